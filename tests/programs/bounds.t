#!/bin/sh
# SPDX-License-Identifier: MIT
# What is known of an H200 from elsewhere, held against the recorded one (FOLDER: another recording).

. "$(dirname "$0")/../tap.sh"

folder=${FOLDER:-$recorded}
[ -r "$folder/profile.tsv" ] || skip_all "$folder holds no profile"
make_scratch

# What the recorded profile lacks and the fit now finds in the recorded curves.
cp "$folder"/*.tsv "$scratch"
[ -x "$bin/fit" ] && "$bin/fit" --output "$scratch" >/dev/null 2>&1
curves=$(find "$folder" -name pointer_chase.tsv | wc -l)

# First loads of L2 lines, where the recording has them.
: >"$scratch/once"
if grep -q '^once_before' "$folder/pointer_chase.tsv" 2>/dev/null; then
	cat >"$scratch/once" <<'LIST'
gpu.l2.partitions	partitions of L2	count	2	2
gpu.l2.near_hit.latency	first load of a line of L2, near	cycles	230	310
gpu.l2.far_hit.latency	first load of a line of L2, far	cycles	400	560
gpu.dram.near.latency	DRAM of the own partition	cycles	500	680
gpu.dram.far.latency	DRAM of the other one	cycles	680	850
LIST
fi

# Lines "parameter what unit lowest highest". In cycles a time is multiplied by the clock of the same profile; shared by
# distance in a cluster stands for each of its rows.
awk -F '\t' -v curves="$curves" '
!list { if (!/^#/ && $2 ~ /^[-+0-9]/ && !($1 in value)) value[$1] = $2; next }
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
		seen++
		inside = got >= $4 && got <= $5
		printf "%s\t%s (%s): %.4g %s, %s to %s expected\n", inside ? "ok" : "not ok", $2, name, got, $3, $4, $5
	}
	if (!seen && curves)
		printf "not ok\t%s (%s) is there\n", $2, $1
	else if (!seen)
		printf "ok\t%s # SKIP neither %s nor its curve was recorded\n", $2, $1
}' "$folder/profile.tsv" "$scratch/profile.tsv" list=1 - "$scratch/once" <<'LIST' >"$scratch/judged"
gpu.l1.latency	L1 hit	cycles	30	35
gpu.l1.size	L1's knee	KiB	190	256
gpu.shared.latency	shared memory	cycles	20	33
gpu.l2.latency	near part of L2	cycles	230	310
gpu.l2.slice.closer.latency	closer slices of it	cycles	230	310
gpu.l2.slice.farther.latency	farther slices of it	cycles	230	310
gpu.l2.beyond_near.latency	beyond it	cycles	400	560
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
done <"$scratch/judged"

# Curves of other H200s, by the same analysis.
size() {
	awk -F '\t' -v name="$2" '$1 == name { print $2 }' "$1/profile.tsv"
}
for other in "$folder"-*; do
	[ -z "${FOLDER-}" ] && [ -r "$other/pointer_chase.tsv" ] || continue
	mkdir "$scratch/other"
	cp "$other"/*.tsv "$scratch/other"
	"$bin/fit" --output "$scratch/other" >/dev/null 2>&1
	for name in gpu.l2.size gpu.l2.near.size; do
		verdict=$(echo "$(size "$scratch" $name) $(size "$scratch/other" $name)" |
			awk '{ print ($2 > 0.98 * $1 && $2 < 1.02 * $1 ? "ok" : "not ok") }')
		report "$verdict" "$name in ${other##*/} within 2 %: $(size "$scratch/other" $name)"
	done
	rm -r "$scratch/other"
done
echo "1..$number"
