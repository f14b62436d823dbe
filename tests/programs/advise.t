#!/bin/sh
# SPDX-License-Identifier: MIT
# advise on a made-up machine: the answer's shape, what-if, and what it refuses.

. "$(dirname "$0")/../tap.sh"

# advises STATUS PATTERN WHAT ARGUMENT...: expect, of advise
advises() {
	status=$1 line=$2 what=$3
	shift 3
	expect "$status" "$line" "$what" "$bin/advise" "$@"
}

needs advise
make_scratch
. "$(dirname "$0")/../fixture.sh"
mkdir -p "$scratch/gpu" "$scratch/host" "$scratch/empty" "$scratch/home/data/made-up"
fixture_profile >"$scratch/gpu/profile.tsv"
fixture_profile host >"$scratch/host/profile.tsv"
grep -v -e '^gpu' -e '^host' -e '^link' "$scratch/gpu/profile.tsv" >"$scratch/empty/profile.tsv"
cp "$scratch/gpu/profile.tsv" "$scratch/home/data/made-up"
gpu="panel --output $scratch/gpu --m 8192 --nb 64"
host="panel --output $scratch/host --m 3000 --nb 48"

# tipped TIMES: scales what tips the choice to so many times what is said
tipped() {
	awk -v name="${said% *}" -v factor="${said#* }" -v times="$1" 'BEGIN { print "--scale=" name "=" factor * times }'
}

# shellcheck disable=SC2086 # lists of options
{
	advises 0 '^\* persistent' "the fastest variant comes first and is marked" $gpu
	advises 0 '^\* persistent .* calibrated$' "a prediction names its regime" $gpu
	advises 0 '^Choice: persistent on cuda, limited by barrier' "the choice and its limiter" $gpu
	advises 0 '^Recorded, not measured on this machine' "another machine's profile is called that" $gpu
	advises 0 '^Most sensitive to: ' "what the choice rests on" $gpu
	advises 0 '^The choice tips to fused' "and what tips it" $gpu
	said=$("$bin/advise" $gpu 2>/dev/null | sed -n 's/^The choice tips to fused when \(.*\) is \(.*\) times what.*/\1 \2/p')
	advises 0 '^Choice: fused' "a little beyond that it does" $gpu "$(tipped 1.01)"
	advises 0 '^Choice: persistent' "a little before not yet" $gpu "$(tipped 0.99)"
	advises 0 '^Choice: fused' "what if exchanges were slow" $gpu --set gpu.panel.column.s=50us
	advises 0 'refused: the panel does not fit' "a refused variant has its reason" \
		panel --output "$scratch/gpu" --m 500k --nb 96
	advises 0 'double precision' "double precision" $gpu --precision d
	advises 0 'host memory' "the panel comes from the host" $gpu --from host
	update="update --output $recorded --m 8192 --n 4096"
	advises 0 '^  remove_columns  .* update$' "updates that pay" $update --p 64 --k 1024
	advises 0 '^  modify  .* refactor$' "and one that does not" $update --p 512 --q thin
	advises 0 '^  modify  *not possible: modify needs Q' "what is not possible has its reason" \
		$update --p 1
	advises 0 '"change": "add_rows"' "one change, as JSON" $update --p 8 --change add_rows --json
	real="--output $recorded"
	for operation in getrf geqrf potrf; do
		advises 0 'panels on the GPU .* [0-9]' "ways of $operation" $operation $real --m 2000 --n 2000
	done
	advises 0 '^  fp64, panels on the host' "in double precision" getrf $real --m 500 --n 300 --precision d
	advises 0 'DRAM bandwidth  *+9' "a large gemv follows DRAM" gemv $real --m 16384 --n 16384
	advises 0 '^  cuBLAS\|^. cuBLAS' "a product by the library" gemm $real --m 500 --n 500 --k 500
	advises 0 'blocks of [0-9]' "Gram-Schmidt in blocks" gramschmidt $real --m 5000 --n 50
	advises 0 '"hardware": [0-9]' "what the hardware says, as JSON" potrf $real --m 700 --json
	advises 0 'panels on the GPU' "by another machine's efficiencies" getrf $real --m 900 --n 900 \
		--calibration "${other_recorded##*/}"
	advises 0 '^gpu.own_gemv.s.n ' "efficiencies" efficiency $real
	advises 0 '^  dram, brief  *0.[0-9]*  (median of [0-9]* points' "and the defaults of unknown kernels" efficiency $real
	advises 0 '^gpu.potrf_block.d\[n=' "row by row" efficiency 'gpu.potrf*' -v $real
	advises 1 'no timings of known work' "and none of a name that is none" efficiency 'no*' $real
	advises 0 '^sgemv  *16384 .* 1\.[4-9]' "a machine with twice the bandwidth" machine $real --scale 'gpu.dram.*=2'
	advises 77 'takes 12 TB, the GPU has 150 GB' "what no GPU holds is refused" gemm $real --m 1000000 --n 1000000 --k 1000000
	advises 0 'fp64, panels on the GPU  *refused: takes 276 GB' "way by way" getrf $real --m 131072 --n 131072 --precision d
	advises 0 '^[* ] block .* blocks of 4 columns$' "Gram-Schmidt of one column in blocks" gramschmidt $real --m 10239 --n 1
	advises 0 '^    without rows of their own' "operations without rows are named" getrf --machine 8800gtx --m 512 --n 512
	for pattern in 'gpu.*' 'gpu.[a-z]*'; do
		"$bin/advise" gemv $real --m 8192 --n 8192 --scale "$pattern=2" 2>/dev/null | grep cuBLAS
	done | uniq | grep -c . | grep -qx 1
	result $? "patterns that match the same rows say the same"
	n=1000
	while [ $n -lt 4500 ]; do
		"$bin/advise" gemv $real --m $n --n $n --json 2>/dev/null | grep '"way": "cuBLAS"' | sed 's/.*"seconds": \([0-9.e-]*\).*/\1/'
		n=$((n + n / 12))
	done | awk 'NR > 1 && ($1 > 1.4 * last || $1 < last / 1.2) { print "# " last, $1; bad = 1 } { last = $1 } END { exit bad || NR < 15 }'
	result $? "gemv takes no leap between sizes"
	advises 2 'square' "Cholesky of a tall matrix" potrf $real --m 9 --n 5
	advises 2 'as many rows' "QR of a wide one" geqrf $real --m 5 --n 9
	advises 2 "no recorded machine '../x'" "a calibration that is a path" $gpu --calibration ../x
	advises 2 "no recorded machine 'nope'" "and one that is not there" $gpu --calibration nope
	advises 77 'none of it is possible here: modify needs Q' "a change that is not possible: exit code 77" $update --p 1 --change modify
	advises 2 "change 'all' is not known: give one of remove_columns" "an unknown change is refused" $update --p 8 --change all
	advises 2 'how much changes' "and an update of nothing" $update
	advises 2 'as many rows as columns' "and a wide matrix" update --m 5 --n 9 --p 1
	advises 2 'at most 131072' "and a change without end" update --m 1000000000 --n 1 --p 1000000
	advises 0 '"seconds": [0-9]' "--json" $gpu --json
	advises 0 '^\* host  *host' "a machine without a GPU: its CPU" $host
	advises 1 'has no GPU' "and no panel on its device" $host --from device
	advises 1 'no variant can be predicted here' "a profile without parameters" \
		panel --output "$scratch/empty" --m 100 --nb 10
	advises 1 'profile.tsv' "a folder without a profile" panel --output "$scratch/nothing" --m 100 --nb 10
	advises 2 'rows and\|rows as columns' "more columns than rows" panel --output "$scratch/gpu" --m 10 --nb 20
	advises 2 'at most 512' "a panel that is none" panel --output "$scratch/gpu" --m 1000000 --nb 1000000
	advises 2 'm' "no rows" panel --m 0 --nb 20
	advises 2 "panel's size" "no size at all" panel
	advises 2 'whole number' "a size that is no number" panel --m many --nb 20
	advises 2 'advice is about' "no question" --m 100 --nb 10
	advises 2 'advice is about' "an unknown question" getri --m 100 --nb 10
	advises 2 "give the sizes" "a product without its inner dimension" gemm --m 100 --n 10
	advises 2 "precision 'half'" "an unknown precision" $gpu --precision half
	advises 2 'host, device' "an unknown place" $gpu --from moon
	advises 2 'NAME=VALUE' "a malformed --set" $gpu --set gpu.launch.enqueue
	advises 0 '^Choice: fused' "what if a group of parameters grew" $gpu --scale 'gpu.panel.c*=20'
	advises 0 'nothing here reads gpu.dram.*' "a what-if that nothing reads is called that" $gpu --scale 'gpu.dram.*=2'
	advises 2 'no parameter of such a name' "a pattern that matches nothing" $gpu --scale 'gpu.no.*=2'
	advises 2 'PATTERN=FACTOR' "a malformed --scale" $gpu --scale gpu.launch.enqueue
	advises 2 'not a number above 0' "a factor of 0" $gpu --scale 'gpu.*=0'
	advises 2 'not a number above 0' "a factor with a unit" $gpu --scale 'gpu.launch.*=2us'
	paper='panel --machine 8800gtx --m 8192 --nb 64'
	advises 0 '^\* fused ' "the machine of a paper answers" $paper
	advises 0 'by launch + bytes / bandwidth: .*fused_update' "and names the costs of the simpler law" $paper
	advises 2 'one' "--machine and --output" $gpu --machine made-up
}
FATHOM_HOME=$scratch/home
export FATHOM_HOME
advises 0 'data/made-up' "a recorded machine by name" panel --machine made-up --m 8192 --nb 64
advises 2 "no recorded machine 'nowhere'" "an unknown machine" panel --machine nowhere --m 8192 --nb 64
advises 2 "no recorded machine '../../etc'" "and a path for one" panel --machine ../../etc --m 8192 --nb 64
unset FATHOM_HOME

# ---- values that a parameter cannot have
while read -r assignment said; do
	advises 2 "$said" "--set $assignment is refused" panel --output "$recorded" --m 8192 --nb 64 --set "$assignment"
done <<-'VALUES'
	gpu.launch.enqueue=5GB/s its unit is s, not B/s: give a value such as 1.5us
	gpu.launch.enqueue=-1s below 0
	gpu.dram.read=5us its unit is B/s, not s
	gpu.dram.read=-1TB/s below 0
	gpu.fma.s.rate=0 never 0: give one such as 60Tflop/s
	gpu.sm.count=0 never 0
	gpu.sm.count=16MHz its unit is count, not Hz
	gpu.read.time[bytes=4096]=3B its unit is s, not B
VALUES
advises 0 '^Choice' "a time of 0 is one, and a number without a unit" panel --output "$recorded" --m 8192 --nb 64 --set gpu.launch.enqueue=0

# ---- options that do not belong to the question
while IFS='|' read -r question option said; do
	# shellcheck disable=SC2086 # words
	advises 2 "^fathom-advise: $option is for $said: leave it out of advise ${question%% *}" "$question $option" $question --output "$recorded" \
		${option} $([ "$option" = --transposed ] || echo 4)
done <<-'OPTIONS'
	getrf --m 5 --n 5|--nb|panel
	getrf --m 5 --n 5|--k|gemm and update
	geqrf --m 5 --n 5|--p|update
	potrf --m 5|--q|update
	getrf --m 5 --n 5|--dram|kernel
	gemm --m 5 --n 5 --k 5|--transposed|gemv
	gemm --m 5 --n 5 --k 5|--from|factorizations, panels and updates
	gemv --m 5 --n 5|--k|gemm and update
	gramschmidt --m 5 --n 5|--file|kernel
	panel --m 5 --nb 5|--n|operations and update
	machine|--m|operations, panel and update
	efficiency|--precision|operations, panel and update
	kernel --blocks 1 --threads 32|--n|operations and update
OPTIONS
advises 2 "from.* is for factorizations" "a place for gemv" gemv --m 5 --n 5 --from host
advises 2 "change is for update" "a change of a panel" panel --m 5 --nb 5 --change add_rows
update_time() { # option...: microseconds of the update and of a new factorization
	# shellcheck disable=SC2086 # words
	"$bin/advise" $update --p 64 --change add_rows "$@" 2>/dev/null | awk '$1 == "add_rows" { print $2, $3 }'
}
echo "$(update_time) $(update_time --from host)" | awk '{ exit !($3 > 1.1 * $1 && $4 > 1.1 * $2) }'
result $? 'an update from host memory takes longer than one on the device, as a new factorization does'

# ---- the number of multiprocessors is for measuring
advises 2 'sms is for measuring: ask a machine such as' '--sms' panel --m 8192 --nb 64 --output "$recorded" --sms 16
FATHOM_SMS=16
export FATHOM_SMS
advises 0 'FATHOM_SMS=16 is for measuring, and this profile has 132' 'FATHOM_SMS warns' panel --m 8192 --nb 64 --output "$recorded"
"$bin/advise" panel --m 8192 --nb 64 --machine nvidia-h200-sms-16 2>&1 | grep -q FATHOM_SMS
[ $? -eq 1 ]
result $? 'but not for the profile of so many multiprocessors'
for program in rules 'list parameters' "compare $recorded" 'predict' 'trace getrf --n 512 --simulate' "health $recorded" fit report; do
	[ -x "$bin/${program%% *}" ] || continue
	# shellcheck disable=SC2086 # words
	expect 2 'sms is for measuring' "--sms of $program" "$bin"/$program --sms 16 --output "$recorded"
done
echo "1..$number"
