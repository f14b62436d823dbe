#!/bin/sh
# SPDX-License-Identifier: MIT
# Machines without some feature: recorded curves without its rows give a profile without its parameters. Nothing fails, and
# the model predicts without them.

. "$(dirname "$0")/../tap.sh"

needs fit advise predict
make_scratch

# keep FILE CONDITION: the rows for which awk's condition holds; $1 is the series
keep() {
	awk -F '\t' -v OFS='\t' "/^#/ || \$1 == \"series\" { print; next } $2" "$recorded/$1.tsv" >"$folder/$1.tsv"
}

# machine NAME: a fresh copy of the recorded curves
machine() {
	folder=$scratch/$1
	mkdir "$folder"
	for file in "$recorded"/*.tsv; do
		grep -q '^# probe: ' "$file" && cp "$file" "$folder"
	done
}

fitted() { # what
	expect 0 '^gpu.l1.latency ' "$1: every fit works" "$bin/fit" --output "$folder"
	expect 0 '^\* [a-z]' "$1: panels are estimated" \
		"$bin/advise" panel --m 8192 --nb 64 --output "$folder"
}

has() { # parameter's beginning
	grep -q "^$1" "$folder/profile.tsv"
}

lacks() { # parameter's beginning, what
	if has "$1"; then report "not ok" "$2"; else report ok "$2"; fi
}

machine old # compute capability 8.0: no clusters, no early launch, no warp-group MMA
for probe in pointer_chase barrier block_kernel instruction; do
	keep $probe '$1 !~ /cluster|wgmma|geqrf_shared|reflectors|lu_rows|lu_columns/'
done
keep launch '$1 != "pdl"'
{
	echo '# unavailable.pdl: needs compute capability 9.0; this device is of compute capability 8.0'
	cat "$folder/launch.tsv"
} >"$scratch/launch" && mv "$scratch/launch" "$folder/launch.tsv"
fitted 'no clusters'
lacks gpu.cluster.latency 'no clusters: no latency in them'
lacks gpu.barrier.cluster 'no clusters: no barrier of theirs'
lacks gpu.launch.pdl 'no clusters: no early launch'

machine slice # little memory: an eighth of everything that has a size
keep copy '$1 !~ /^(copy|read|write)_(warm|cold)/ || $2 <= 67108864'
keep transfer '$2 <= 16777216'
keep gemm_rate '$2 * $3 <= 16777216 || ($2 == "" || $2 == "nan") && $3 <= 4096'
keep gemv_rate '$2 * $3 <= 16777216'
keep concurrency '$1 !~ /memory/'
fitted 'little memory'
lacks gpu.overlap.memory_h2d 'little memory: nothing beside a kernel that copies it'
lacks 'link.h2d.pinned.time.bytes=1073741824' 'little memory: no large transfers'

machine shared # the device was busy during one process of one probe
keep barrier '{ if ($1 == "block") $NF = 1; print }'
fitted 'a busy device'
grep -q '^gpu.barrier.block.*	noisy$' "$folder/profile.tsv"
result $? 'a busy device: what was measured meanwhile is noisy'
expect 0 '^[0-9]* parameters: [0-9]* ok, [1-9][0-9]* noisy (.*gpu [1-9].*), [0-9]* bounded, 0 failed$' \
	'how many are noisy is said' "$bin/fit" --output "$folder"

machine uncalibrated # no timing of kernels or calls
expect 0 '^gpu.l1.latency ' 'no calibration: every fit works' "$bin/fit" --output "$folder"
awk -F '\t' '/^#/ || $8 == "regime" || $8 == "hardware"' "$folder/profile.tsv" >"$scratch/profile"
mv "$scratch/profile" "$folder/profile.tsv"
expect 0 'predictions.tsv' 'no calibration: predict answers' "$bin/predict" --quick --seed=7 --output "$folder"
refused=$(awk -F '\t' '$10 ~ /level=hardware/ && $13 == "nan" && $NF !~ /not fit on chip|holds at most/' "$folder/predictions.tsv")
[ -z "$refused" ] && grep -q 'level=hardware' "$folder/predictions.tsv"
result $? 'no calibration: the hardware alone answers for every operation that is possible'
[ -z "$refused" ] || echo "$refused" | head -n 3 | sed 's/^/# /' >&2

machine neighbours # others on some of the host's cores, as three probes found
for file in "$folder"/*.tsv; do
	case $file in
	*/host_rate.tsv) cores='1 (0.61), 2 (0.7), 12 (0.55)' ;;
	*/host_memory.tsv) cores='3 (0.9)' ;;
	*) cores=unknown ;;
	esac
	sed "s/^# shared_cores: .*/# shared_cores: $cores/" "$file" >"$scratch/file" && mv "$scratch/file" "$file"
done
expect 0 "^interference on 1 to 3 of the host's cores" 'a shared host is said' "$bin/fit" --output "$folder"
sed -i 's/^# shared_cores: .*/# shared_cores: none/' "$folder"/*.tsv
"$bin/fit" --output "$folder" >"$scratch/text" && ! grep -q '^interference on' "$scratch/text"
result $? 'one that is not shared is not'
# ---- curves that are not there: their parameters stay
machine partial
cp "$recorded/profile.tsv" "$folder"
rm "$folder/barrier.tsv" "$folder/host_rate.tsv"
low=$(awk -F '\t' '$1 == "gpu.dram.copy" { print $4 }' "$folder/profile.tsv")
sed -i "s/^gpu.dram.copy\t[^\t]*/gpu.dram.copy\t$low/" "$folder/profile.tsv"
cp "$folder/profile.tsv" "$scratch/before"
rows() { # FILE PATTERN
	grep "^$2" "$1" | sort
}
kept="the curves of barrier host_rate are not in $folder: their [0-9]* parameters keep their values"
for run in 'a first' 'a second'; do
	expect 0 "$kept" "$run fit says of which probes" "$bin/fit" --output "$folder"
	for pattern in gpu.barrier host.getrf; do
		[ "$(rows "$folder/profile.tsv" $pattern)" = "$(rows "$scratch/before" $pattern)" ] && has $pattern
		result $? "$run fit keeps the rows of $pattern"
	done
	has "gpu.dram.copy	$low"
	[ $? -eq 1 ]
	result $? 'and replaces those of curves that are there'
done
grep -q '^# probes: .*barrier.*host_rate' "$folder/profile.tsv"
result $? 'whose probes are still those of the profile'
sed -i 's/^# machine: .*/# machine: 01234567-89abcdef/' "$folder/profile.tsv"
expect 0 'its profile is of another machine: their parameters are left out' "another machine's rows are not kept" "$bin/fit" --output "$folder"
lacks gpu.barrier 'and are gone'
expect 0 '^[0-9]* parameters' 'a fit of all curves' "$bin/fit" --output "$folder"
"$bin/fit" --output "$folder" 2>&1 | grep -q 'keep their values'
[ $? -eq 1 ]
result $? 'keeps nothing'
echo "1..$number"
