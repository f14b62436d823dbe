#!/bin/sh
# SPDX-License-Identifier: MIT
# Design rules: their numbers and intervals follow from a made-up profile, and a rule that the intervals do not allow is silent.
. "$(dirname "$0")/../tap.sh"
needs rules
make_scratch
unset MACHINE FATHOM_DATA
export CUDA_VISIBLE_DEVICES=

data=$scratch/data
mkdir "$data"
# rows "parameter value low high unit"
profile() {
	printf '# machine: made-up\nparameter\tvalue\tunit\tlow\thigh\tsamples\tmethod\tregime\tstatus\n' >"$data/profile.tsv"
	awk '{ print $1 "\t" $2 "\t" $5 "\t" $3 "\t" $4 "\t9\tmade up\thardware\tok" }' >>"$data/profile.tsv"
}
rules() {
	"$bin/rules" --output "$data" "$@" 2>/dev/null | tr -s '\n ' ' '
}
# says PATTERN WHAT; never PATTERN WHAT: of the rules as text
says() {
	rules | grep -q -e "$1"
	result $? "$2"
}
never() {
	! rules | grep -q -e "$1"
	result $? "$2"
}
near() { # RULE COLUMN VALUE WHAT: of the rules as JSON, to 0.1 %
	rules --json | jq -e --arg rule "$1" --argjson want "$3" \
		".rows[] | select(.rule == \$rule) | .$2 | . != null and (. / \$want - 1) * (. / \$want - 1) < 1e-6" >/dev/null
	result $? "$4"
}
command -v jq >/dev/null || skip_all 'no jq here'

machine() { # the least time of a dependent launch, of a programmatic one; rows that follow replace none
	profile <<-ROWS
		gpu.launch.dependent 2e-6 $1 2.2e-6 s
		gpu.launch.pdl 1e-6 0.9e-6 $2 s
		gpu.dram.copy 4e12 3.9e12 4.1e12 B/s
		gpu.dram.read 4e12 3.96e12 4.04e12 B/s
		gpu.fma.s.rate 6e13 6e13 6e13 flop/s
		gpu.l2.read 6e12 6e12 6e12 B/s
		gpu.copy.misaligned[offset=4] 2e12 1.9e12 2.1e12 B/s
		gpu.copy.misaligned[offset=64] 4e12 3.9e12 4.1e12 B/s
		gpu.copy.aligned_head[offset=4] 3e12 2.9e12 3.1e12 B/s
		link.h2d.pinned.alpha 8e-6 1e-6 20e-6 s
		link.h2d.pinned.beta 5e10 5e10 5e10 B/s
		host.line.size 64 64 64 B
	ROWS
}
machine 1.8e-6 1.1e-6

# ---- numbers: value and interval are those of the expression; distances of factors add in quadrature
near 'Half-length of a kernel' value 8e6 'a product of parameters'
near 'Half-length of a kernel' low 7.1754e6 'the low end of its interval'
near 'Half-length of a kernel' high 8.8246e6 'and the high end'
says 'n_half = 8 MB (7.18 .. 8.82)' 'both stand in the sentence'
near 'Flops a word, single precision' value 60 'flops a word: 4 bytes times the rates'
near 'Flops a word, single precision' low 59.4 'the divisor widens it, too'
says 'b of at least 60 (60 .. 61) hides DRAM, 40 hides L2' 'the smallest tile (LAWN 202, 4.1)'
says 'starts 1 us (0.9 .. 1.1) after the one before it, 1 us sooner' 'a difference of parameters'
near 'Aligned head' gain 1.5 'the gain of a rule'
near 'Aligned head' gain_low 1.4099 'and its least'
near 'False sharing' value 64 'a rule of the host'

# ---- silence
never 'Transfers: a message' 'a number that is not known to a factor of 2 makes no rule'
never 'Both directions' 'neither does a missing parameter'
machine 1.0e-6 1.1e-6
never 'Programmatic dependent launch' 'nor a comparison whose intervals overlap'
machine 1.8e-6 1.9e-6
never 'Programmatic dependent launch' 'on either side'
machine 1.8e-6 1.1e-6
says 'Programmatic dependent launch' 'which it does where they do not'

# ---- each kind of rule: a profile that has its parameters to 2 % gives it, one that has the last of them to a factor of 4 does not
topics() {
	cat <<-'TOPICS'
		Strided copies|gpu.copy.stride[words=33554432,stride=2] 2e12 B/s;gpu.copy.stride[words=33554432,stride=8] 4e11 B/s;gpu.copy.stride[words=33554432,stride=1] 4e12 B/s
		Misaligned copies|gpu.copy.misaligned[offset=8] 3e12 B/s;gpu.copy.misaligned[offset=16] 4e12 B/s;gpu.copy.misaligned[offset=64] 4e12 B/s;gpu.copy.misaligned[offset=4] 2e12 B/s
		Narrow accesses|gpu.copy.width[width=16] 4e12 B/s;gpu.copy.width[width=8] 3e12 B/s;gpu.copy.width[width=4] 2e12 B/s
		Aligned head|gpu.copy.misaligned[offset=4] 2e12 B/s;gpu.copy.aligned_head[offset=4] 3e12 B/s
		No aligned head beyond 8 bytes|gpu.copy.aligned_head[offset=16] 3e12 B/s;gpu.copy.misaligned[offset=16] 4e12 B/s
		Flops a word, single precision|gpu.dram.read 4e12 B/s;gpu.fma.s.rate 6e13 flop/s
		Flops a word, double precision|gpu.dram.read 4e12 B/s;gpu.fma.d.rate 3e13 flop/s
		Flops a word, tensor cores|gpu.dram.read 4e12 B/s;gpu.wgmma.tf32.rate 4e14 flop/s
		Smallest tile that hides memory|gpu.fma.s.rate 6e13 flop/s;gpu.dram.read 4e12 B/s
		Smallest tile of tensor cores|gpu.wgmma.tf32.rate 4e14 flop/s;gpu.dram.read 4e12 B/s
		Address translation, level 1|gpu.tlb.penalty[level=1] 5e-9 s;gpu.tlb.reach[level=1] 2.6e8 B
		Huge pages|host.tlb.reach[level=1,page=4096] 4e5 B;host.tlb.penalty[level=1,page=4096] 2e-9 s;host.tlb.reach[level=1,page=2097152] 7e7 B
		Far part of L2|gpu.l2.near_hit.latency 144e-9 s;gpu.l2.far_hit.latency 233e-9 s
		Beyond the near part of L2|gpu.l2.near.size 3e7 B;gpu.l2.beyond_near.latency 280e-9 s
		Memory behind the other part of L2|gpu.dram.near.latency 280e-9 s;gpu.dram.far.latency 370e-9 s
		CUDA graphs|gpu.launch.dependent 1.7e-6 s;gpu.launch.graph_node 0.9e-6 s
		CUDA graphs, host|gpu.launch.enqueue 3e-6 s;gpu.launch.graph 1e-6 s
		Programmatic dependent launch|gpu.launch.dependent 1.7e-6 s;gpu.launch.pdl 0.7e-6 s
		Bytes in flight|gpu.dram.latency 350e-9 s;gpu.sm.count 132 count;gpu.dram.read 4e12 B/s
		Copies with few bytes in flight|gpu.copy.inflight[bytes=32768] 4e12 B/s;gpu.copy.inflight[bytes=2048] 1e12 B/s
		Bytes in flight as measured, plain loads|gpu.saturation.dram.bytes_per_sm[engine=1] 25e3 B
		Cost of a grid barrier|gpu.sm.count 132 count;gpu.dram.copy 4e12 B/s;gpu.barrier.counter[blocks=132,threads=256] 1e-6 s
		Barrier of a cluster|gpu.sm.count 132 count;gpu.barrier.counter[blocks=132,threads=256] 1e-6 s;gpu.barrier.cluster[blocks=16] 0.2e-6 s
		Barrier of a block|gpu.sm.count 132 count;gpu.fma.s.rate 6e13 flop/s;gpu.barrier.block[threads=128] 10e-9 s
		When to fuse|gpu.sm.count 132 count;gpu.dram.copy 4e12 B/s;gpu.launch.dependent 1.7e-6 s;gpu.barrier.counter[blocks=132,threads=256] 0.9e-6 s
	TOPICS
}
with_rows() { # rows, factor of the last one's interval
	echo "$1" | tr ';' '\n' | awk -v last="$2" '
		{ name[NR] = $1; value[NR] = $2; unit[NR] = $3 }
		END { for (i = 1; i <= NR; i++) {
			f = i == NR ? last : unit[i] == "count" ? 1 : 1.02
			print name[i], value[i], value[i] / f, value[i] * f, unit[i]
		} }' | profile
}
topics >"$scratch/topics"
while IFS='|' read -r name rows; do
	with_rows "$rows" 1.02
	says "- $name: " "$name"
	with_rows "$rows" 2
	never "- $name: " "$name: silent where a parameter is not known"
done <"$scratch/topics"
# a number that has to stand in a sentence and is not there silences it, one that may stand is left out
with_rows 'gpu.copy.stride[words=33554432,stride=8] 4e11 B/s;gpu.copy.stride[words=33554432,stride=1] 4e12 B/s' 1.02
never 'Strided copies' 'no sentence with a hole'
with_rows 'gpu.copy.stride[words=33554432,stride=2] 2e12 B/s;gpu.copy.stride[words=33554432,stride=8] 4e11 B/s;gpu.copy.stride[words=33554432,stride=1] 4e12 B/s' 1.02
says 'every eighth at 10 %: transpose' 'what was not measured is left out of it'
machine 1.8e-6 1.1e-6

# ---- what a rule rests on
rules --json | jq -e '.rows | length == 8 and all(.text != "" and .unit != "" and (.parameters | length > 3))' >/dev/null
result $? 'every rule has a text, a unit and its parameters'
rules --json | jq -r '.rows[].parameters' | tr ' ' '\n' | sort -u >"$scratch/named"
cut -f 1 "$data/profile.tsv" | grep -v -x -F -f - "$scratch/named" >"$scratch/unknown"
[ -s "$scratch/named" ] && [ ! -s "$scratch/unknown" ]
result $? 'which the profile has'

# ---- the strongest
rules --json --strongest 3 | jq -e '.rows | length == 3 and .[0].gain_low >= .[1].gain_low and .[1].gain_low >= .[2].gain_low and .[2].gain_low > 1' >/dev/null
result $? '--strongest: those with the largest certain gains'

# ---- machines
grep -v '^gpu\|^link' "$data/profile.tsv" >"$scratch/host" && cp "$scratch/host" "$data/profile.tsv"
rules --json | jq -e '.rows | length == 1 and .[0].part == "host"' >/dev/null
result $? 'a named folder without a GPU has rules of the host alone'
FATHOM_HOME=$scratch
export FATHOM_HOME
mkdir "$scratch/data/local" && cp "$scratch/host" "$scratch/data/local/profile.tsv"
ln -s "$root/plots" "$scratch/plots" && ln -s "$recorded" "$root/data/papers" "$scratch/data"
expect 0 "no GPU: rules of a GPU are those of .*${recorded##*/}" 'this machine without a GPU: those of the recorded one, which is said' "$bin/rules"
expect 2 'both name a data folder' '--machine and --output' "$bin/rules" --machine "${recorded##*/}" --output "$data"
expect 2 "no recorded machine 'nowhere'" 'an unknown machine' "$bin/rules" --machine nowhere
unset FATHOM_HOME
for machine in "${recorded##*/}" "${other_recorded##*/}"; do
	"$bin/rules" --machine "$machine" >"$scratch/rules"
	[ "$(wc -l <"$scratch/rules")" -gt 150 ] && awk 'length > 100 { exit 1 }' "$scratch/rules"
	result $? "$machine has its rules, in lines of at most 100 columns"
	for rule in 'Strided copies' 'Misaligned copies' 'Aligned head' 'Narrow accesses' 'Flops a word' 'Smallest tile' 'Address translation' \
		'Far part of L2' 'Programmatic dependent launch' 'CUDA graphs' 'Bytes in flight' 'Cost of a grid barrier' 'Barrier of a block'; do
		expect 0 . "$machine: $rule" grep "^- $rule" "$scratch/rules"
	done
done
echo "1..$number"
