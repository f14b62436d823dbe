#!/bin/sh
# SPDX-License-Identifier: MIT
# Two runs, and two machines, compared as a reader does: which folders, what is said of each kind of parameter, the exit code.

. "$(dirname "$0")/../tap.sh"

recorded=$root/data/nvidia-h200/profile.tsv
needs compare
make_scratch
mkdir "$scratch/a" "$scratch/b" "$scratch/c"

# nothing is noisy in the first run
awk -F '\t' -v OFS='\t' '$NF == "noisy" { $NF = "ok" } { print }' "$recorded" >"$scratch/a/profile.tsv"

# changed FOLDER PARAMETER FACTOR: the first run but for one value
changed() {
	awk -F '\t' -v OFS='\t' -v name="$2" -v factor="$3" \
		'$1 == name { $2 *= factor; $4 *= factor; $5 *= factor } { print }' \
		"$scratch/a/profile.tsv" >"$scratch/$1/profile.tsv"
}

expect 0 'gpu latency *all .* repeats' 'a run is like itself' "$bin/compare" "$scratch/a" "$scratch/a"
expect 0 '^Verdict: the runs agree' 'which is the verdict' "$bin/compare" "$scratch/a" "$scratch/a"
expect 0 '"verdict": "repeats"' 'in JSON, too' "$bin/compare" "$scratch/a" "$scratch/a" --json
changed b gpu.launch.dependent 1.03
expect 1 '^Verdict: parameters changed' 'the verdict of a change' "$bin/compare" "$scratch/a" "$scratch/b"
expect 1 'gpu latency *gpu.launch.dependent .* 3.00 *beyond' 'a latency 3 % longer is beyond the bar' \
	"$bin/compare" "$scratch/a" "$scratch/b"
expect 1 'gpu latency *gpu.launch.dependent .* 3.00 *beyond' 'the second folder may be the output' \
	"$bin/compare" --output "$scratch/b" "$scratch/a"
expect 0 'gpu bandwidth *all .* repeats' 'of a rate 2.5 % are not' sh -c \
	"awk -F '\t' -v OFS='\t' '\$1 == \"gpu.dram.copy\" { \$2 *= 1.025; \$5 *= 1.025 } { print }' '$scratch/a/profile.tsv' \
		>'$scratch/c/profile.tsv' && '$bin/compare' '$scratch/a' '$scratch/c'"
changed c 'gpu.trtri.d[n=128]' 2
expect 0 'gpu surface *all .* no bar' 'no bar is set for a surface, but it is shown' \
	"$bin/compare" "$scratch/a" "$scratch/c"
expect 1 'nowhere' 'one that is not there is refused' "$bin/compare" nowhere nvidia-h200
expect 2 'give two folders' 'three folders are too many' "$bin/compare" "$scratch/a" "$scratch/b" "$scratch/c"
awk -F '\t' -v OFS='\t' '$1 ~ /^gpu.load.latency/ && n++ < 6 { $NF = "noisy" } { print }' \
	"$scratch/a/profile.tsv" >"$scratch/c/profile.tsv"
expect 1 'noisy: 0 before, 6 now' 'more than five noisy parameters are too many' \
	"$bin/compare" "$scratch/a" "$scratch/c"

expect 1 'nothing changed by more than is allowed, but a run has too many noisy' 'the verdict of a noisy run beside itself' \
	"$bin/compare" "$scratch/c" "$scratch/c"
expect 1 '"verdict": "noisy"' 'in JSON, too' "$bin/compare" "$scratch/c" "$scratch/c" --json

# ---- two machines
# node AWK: the first run on another machine of the same kind, with its rows changed
node() {
	awk -F '\t' -v OFS='\t' "/^# machine: /"' { print $0 "0"; next } '"$1"' { print }' "$scratch/a/profile.tsv" >"$scratch/c/profile.tsv"
}
machines() { # status, pattern, what, words
	expect "$1" "$2" "$3" "$bin/compare" "$scratch/a" "$scratch/c" $4
	cp "$scratch/said" "$scratch/both"
}
slower='{ $2 *= 0.75; $4 *= 0.75; $5 *= 0.75 }'
"$bin/compare" nvidia-h100 nvidia-h200 >"$scratch/both" 2>/dev/null
result $? 'machines of two kinds: no difference is a fault'
row() { # pattern, what
	expect 0 . "$2" grep -E "$1" "$scratch/both"
}
row '^A nvidia-h100: GPU NVIDIA H100' 'recorded machines go by their names'
row '^  LU of 8192  .* ms .* 1\.[0-9]* .*\.\. .* on both$' 'an operation: times, speed, interval, what limits both'
row '^  A x of 16384 .* faster .*memory' 'one that the memory limits is faster'
row '^  gpu.dram.copy .* TB/s .* TB/s .* faster$' 'a parameter: values, ratio, interval, verdict'
row '^  gpu.copy.stride  *[0-9]* rows .* to .* faster$' 'a family: the median of its rows, and their range'
row 'another: what is slower is no fault' 'which is said'
awk 'length > 100 { exit 1 }' "$scratch/both"
result $? 'at most 100 columns'
# The predicted ratios of factorizations against those of the recorded benchmarks, each by its fastest math. Each of the two predictions
# may be 3 % off, the bar of their median.
fastest() { # machine, operation, precision, n
	awk -F '\t' -v o="$2" -v p="$3" -v n="$4" '
		/^#/ { next }
		$1 == "operation" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == o && $at["precision"] == p && $at["m"] == n && $at["n"] == n && $2 == "gpu" && $at["options"] !~ /from=|without=/ {
			if (best == "" || $at["seconds"] + 0 < best) best = $at["seconds"] + 0
		}
		END { print best }' "$root/data/$1/bench.tsv"
}
"$bin/compare" nvidia-h100 nvidia-h200 --json 2>/dev/null | sed -n 's/.*"what": "operation", "name": "\([^"]*\)".*"ratio": \([^,]*\),.*/\1|\2/p' >"$scratch/ratios"
while IFS='|' read -r name operation precision n; do
	echo "$(grep "^$name|" "$scratch/ratios" | cut -d '|' -f 2) $(fastest nvidia-h100 $operation $precision $n) $(fastest nvidia-h200 $operation $precision $n)" |
		awk '{ off = $1 / ($3 / $2) - 1; exit !(NF == 3 && off > -0.06 && off < 0.06) }'
	result $? "$name: predicted and measured ratios are within 6 %"
done <<-OPERATIONS
	LU of 1024|getrf|s|1024
	LU of 8192|getrf|s|8192
	LU of 8192, double|getrf|d|8192
	QR of 1024|geqrf|s|1024
	QR of 8192|geqrf|s|8192
	Cholesky of 1024|potrf|s|1024
	Cholesky of 8192|potrf|s|8192
OPERATIONS
expect 0 '"verdict": "of another kind"' 'and in JSON' "$bin/compare" nvidia-h100 nvidia-h200 --json
"$bin/compare" 8800gtx nvidia-h200 >"$scratch/both" 2>/dev/null
expect 0 . 'a date that is no day is whole' grep -A 1 '^A 8800gtx.* measured 2008' "$scratch/both"
tr '\n' ' ' <"$scratch/both" | grep -q '2008, *published'
result $? 'to its end'
! grep -E '[0-9]\.( |$)' "$scratch/both"
result $? 'no ratio ends in a point'
awk '/^  parameter / { at = index($0, "B is") } at && /(faster|slower|more|less)$/ && substr($0, at - 1, 2) !~ /^ [fsml]/ { bad = 1; print "# " $0 } END { exit bad || !at }' \
	"$scratch/both" >&2
result $? 'the verdicts of large ratios stand in one column'
node ''
machines 0 'B is nowhere slower than A by more than 10 %' 'a good node of a fleet'
node '$1 ~ /^gpu.dram.(read|copy)$/ '"$slower"' $1 ~ /^gpu.(own_)?gemv/ { $2 *= 1.4; $4 *= 1.4; $5 *= 1.4 }'
machines 1 '^  gpu.dram.read  *1.33' 'a node with slow memory is bad'
row '^  A x of 16384  *1\.[345]' 'as are the operations that the memory limits'
machines 0 'nowhere slower than A by more than 50 %' '--tolerance' '--tolerance 50'
expect 0 'nowhere slower' 'a faster node is good' "$bin/compare" "$scratch/c" "$scratch/a"
node '$1 == "gpu.dram.write" { $2 *= 0.75; $4 *= 0.6 }'
machines 0 'nowhere slower' 'what the interval does not tell is no fault'
node '/^# gpu: / { print $0 " of another kind"; next } $1 == "gpu.dram.read" '"$slower"
machines 0 'what is slower is no fault' 'nor is a GPU of another kind'
awk -F '\t' -v OFS='\t' '/^# driver: / { $0 = "# driver: 999.1" } $1 ~ /^gpu.launch.enqueue/ { $2 *= 1.5; $4 *= 1.5; $5 *= 1.5 } { print }' \
	"$scratch/a/profile.tsv" >"$scratch/c/profile.tsv"
machines 1 '^  gpu.launch.enqueue  *1.5' 'a regression after an update of the driver'
row 999.1 'the drivers are named'
expect 0 'nowhere slower' 'runs of one machine, side by side' "$bin/compare" --side-by-side "$scratch/a" "$scratch/a"
grep -v '^gpu\|^link' "$scratch/a/profile.tsv" | sed 's/^# machine: .*/&0/' >"$scratch/c/profile.tsv"
machines 0 '^  LU panel of 8192 x 64, host .* host on both' 'a machine without a GPU: operations of the host'

# ---- two builds on one GPU
builds() {
	expect "$1" "$2" "$3" sh scripts/compare_builds.sh "$scratch/a" "$scratch/b"
}
# without NAME: the limited build lacks it
without() {
	grep -v "^$1" "$scratch/a/profile.tsv" >"$scratch/b/profile.tsv"
}
cd "$(dirname "$recorded")/../.." || exit 1
changed b gpu.dram.latency 1.04
builds 0 ' compared, 0 to look at' 'two builds: a hardware parameter 4 % apart is the same'
changed b gpu.dram.latency 1.5
builds 1 '^gpu.dram.latency .* limited ' 'one 50 % apart is listed'
without 'gpu.launch.pdl	'
builds 1 'lacks 1 of gpu.launch.pdl: NOT EXPLAINED' 'so is one that is not there'
echo '# unavailable.pdl: needs code for 9.0' >"$scratch/b/launch.tsv"
builds 0 'lacks 1 of gpu.launch.pdl: needs code for 9.0' 'unless the curves say why'
without 'gpu.engine.read'
builds 1 'of gpu.engine.read: NOT EXPLAINED' 'a family fitted from other series is not explained by itself'
echo '# unavailable.inflight: needs code for 9.0' >"$scratch/b/launch.tsv"
builds 0 'of gpu.engine.read: .*no inflight (needs code for 9.0)' 'but by the series behind it'
changed b 'gpu.reduce.max[threads=32]' 2
builds 1 '^gpu.reduce.max.threads=32. .*NOT EXPLAINED' 'a slower reduction is not explained'
echo '# unavailable.warp.redux: needs code for 8.0' >"$scratch/b/instruction.tsv"
builds 0 '^gpu.reduce.max.threads=32. .*no warp.redux' 'unless its instruction is not there'
without 'gpu.launch.pdl	'
builds 1 'gpu.launch.pdl: NOT EXPLAINED' 'which explains nothing else'
sed 's/^gpu.mma.d16.sustained	/gpu.mma.d.sustained	/' "$scratch/a/profile.tsv" >"$scratch/b/profile.tsv"
builds 1 'only in the limited build: 1 of gpu.mma.d.sustained: NOT EXPLAINED' 'nor is a rate that only one build has'
echo '# unavailable.mma.d16: needs code for 9.0' >"$scratch/b/instruction.tsv"
builds 0 'only in the limited build: 1 of gpu.mma.d.sustained: .*no mma.d16' 'unless the faster product is not there'
changed b link.d2h.pinned.alpha 1.5
builds 1 '^link.d2h.pinned.alpha .*measure again' 'a link is to be measured again'
expect 0 'as in the full build when measured again' 'and is explained when that agrees' \
	sh scripts/compare_builds.sh "$scratch/a" "$scratch/b" "$scratch/a"
expect 2 '^usage: compare_builds.sh' 'one folder is wrong usage' sh scripts/compare_builds.sh "$scratch/a"
echo "1..$number"
