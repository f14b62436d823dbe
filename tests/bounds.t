#!/bin/sh
# SPDX-License-Identifier: MIT
# What is known of an H200 from elsewhere, held against the recorded one (FOLDER: another recording).

. "$(dirname "$0")/tap.sh"

folder=${FOLDER:-$(cd "$(dirname "$0")/.." && pwd)/data/nvidia-h200}
if [ ! -r "$folder/profile.tsv" ]; then
	echo "1..0 # SKIP $folder holds no profile"
	exit 0
fi

# What the fits of today make of the recorded bank_conflict curve stands in for rows that the recorded profile lacks.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/profile.tsv"
if [ -x "$bin/fit" ] && cp "$folder/bank_conflict.tsv" "$scratch" 2>/dev/null; then
	"$bin/fit" --output "$scratch" >/dev/null 2>&1
fi

# Lines "parameter what unit lowest highest". In cycles a time is multiplied by the clock of the same profile; far is
# the far part's latency over the near part's, shared by distance in a cluster stands for each of its rows.
awk -F '\t' '
FILENAME != "-" { if (!/^#/ && $1 != "parameter" && !($1 in value)) value[$1] = $2; next }
{
	scale = $3 == "cycles" ? value["gpu.bank.clock"] : $3 == "MB" ? 1e-6 : $3 == "KiB" ? 1 / 1024 : $3 == "Tflop/s" ? 1e-12 : 1
	if ($3 == "B a cycle and SM")
		scale = 1 / value["gpu.bank.clock"] / value["gpu.sm.count"]
	seen = 0
	for (name in value) {
		plain = name
		sub(/\[distance=[1-9].*/, "", plain)
		if (plain != $1 && name != $1)
			continue
		got = value[name] * scale
		if ($3 == "times near")
			got = value[name] / value["gpu.l2.near.latency"]
		seen++
		inside = got >= $4 && got <= $5
		printf "%s\t%s (%s): %.4g %s, %s to %s expected\n", inside ? "ok" : "not ok", $2, name, got, $3, $4, $5
	}
	if (!seen)
		printf "not ok\t%s (%s) is there\n", $2, $1
}' "$folder/profile.tsv" "$scratch/profile.tsv" - <<'LIST' >"$scratch/verdicts"
gpu.l1.latency	L1 hit	cycles	30	35
gpu.l1.size	L1's knee	KiB	190	256
gpu.shared.latency	shared memory	cycles	20	33
gpu.l2.near.latency	near part of L2	cycles	230	310
gpu.l2.far.latency	far part of L2	times near	1.05	2
gpu.l2.size	all of L2	MB	50	65
gpu.l2.near.size	its near part	MB	20	40
gpu.dram.latency	DRAM	cycles	550	750
gpu.cluster.latency	shared memory of a cluster	cycles	170	240
gpu.fma.s.latency	FMA in fp32	cycles	3.9	4.2
gpu.fma.s.rate	FMA in fp32	Tflop/s	63.6	66.9
gpu.mma.d16.rate	MMA in fp64	Tflop/s	60.2	66.9
gpu.bank.saturated.factor[ways=32,width=4]	32 ways, loads	times one	31.04	32.96
gpu.bank.saturated.store_factor[ways=32,width=4]	32 ways, stores	times one	31.04	32.96
gpu.shared.read	shared memory, loads	B a cycle and SM	125	128.5
gpu.shared.write	shared memory, stores	B a cycle and SM	125	128.5
LIST
while IFS='	' read -r verdict what; do
	report "$verdict" "$what"
done <"$scratch/verdicts"
echo "1..$number"
