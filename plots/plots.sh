#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws every figure for which there is data into OUTPUT/report/figures (SVG).
# Usage: sh plots/plots.sh OUTPUT      exit 1 when no figure could be drawn
set -u
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=plots/sources.sh
. "$scripts/sources.sh"

if ! command -v gnuplot >/dev/null; then
	echo "plots: figures need gnuplot: make setup installs it" >&2
	exit 1
fi
figures=$report/figures
mkdir -p "$figures" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; rm -f "$figures"/*.new' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
drawn=

# The name that figures give a folder's machine: its GPU's or its processor's.
machine_of() { # folder key
	sed -n -e '/^#/!q' -e "s/^# $2: //p" "$1/profile.tsv" 2>/dev/null | grep -v '^none$'
}
fitted() { # folder: the profile's scalars as gnuplot variables
	awk -F '\t' '$2 ~ /^[0-9.]/ && $9 != "failed" && $1 ~ /^[A-Za-z][A-Za-z0-9_.]*$/ {
		gsub(/[.]/, "_", $1)
		printf "%s = %.9e\n", $1, $2
	}' "$1/profile.tsv" 2>/dev/null
}
draw() { # script name machine [gnuplot settings]
	target=$figures/$2.svg
	if gnuplot -e "work='$work'; scripts='$scripts'; out='$target.new'; name='$2'; machine='$3'; ${4-}" \
		"$scripts/$1.gp" >"$work/log" 2>&1 && [ -s "$target.new" ] && grep -q '</svg>' "$target.new"; then
		mv "$target.new" "$target"
		drawn="$drawn $2"
	else
		rm -f "$target.new"
		echo "plots: $2 could not be drawn: $(grep -v '^ *^*$' "$work/log" | tail -n 1)" >&2
	fi
}

rm -f "$figures"/*.svg
for probe in $probes; do
	folder=$(source_of "$probe")
	if [ -z "$folder" ] || [ ! -s "$folder/$probe.tsv" ]; then
		continue
	fi
	mkdir -p "$work/$probe"
	awk -v folder="$work/$probe" -f "$scripts/series.awk" "$folder/$probe.tsv" || continue
	fitted "$folder" >"$work/profile.gp"
	case $folder in
	"$gpu") machine=$(machine_of "$folder" gpu) ;;
	*) machine= ;;
	esac
	case $(about "$probe" Parameters) in
	host.*) machine=$(machine_of "$folder" cpu) ;;
	esac
	draw "$probe" "$probe" "$(echo "${machine:-unnamed machine}" | tr -d "'\"\\\\")"
done
if [ -n "$gpu" ] && [ -s "$gpu/pointer_chase.tsv" ]; then
	fitted "$gpu" >"$work/profile.gp"
	machine=$(machine_of "$gpu" gpu)
	if grep -q '^gpu_l[12]_size = ' "$work/profile.gp"; then
		draw memory_system memory_system "$(echo "${machine:-unnamed machine}" | tr -d "'\"\\\\")"
	fi
fi
for executor in cuda host; do
	folder=$own
	[ $executor = host ] || folder=$gpu
	[ -n "$folder" ] || continue
	figure=panel_$executor
	mkdir -p "$work/$figure"
	nb=$(awk -v folder="$work/$figure" -v data="$folder" -v executor=$executor \
		-f "$scripts/common.awk" -f "$scripts/panel.awk")
	[ -n "$nb" ] || continue
	machine=$(machine_of "$folder" gpu)
	[ $executor = cuda ] || machine=$(machine_of "$folder" cpu)
	draw panel $figure "$(echo "${machine:-unnamed machine}" | tr -d "'\"\\\\")" "nb=$nb; executor='$executor'"
done
for precision in s d; do
	[ -n "$gpu" ] || continue
	figure=factor_$precision
	mkdir -p "$work/$figure"
	series=$(awk -v folder="$work/$figure" -v data="$gpu" -v precision=$precision \
		-f "$scripts/common.awk" -f "$scripts/bench.awk" -f "$scripts/factor.awk")
	[ -n "$series" ] || continue
	word=single
	[ $precision = s ] || word=double
	draw factor $figure "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")" "precision='$word'"
done
if [ -n "$gpu" ]; then
	figure=vendor
	mkdir -p "$work/$figure"
	series=$(awk -v folder="$work/$figure" -v data="$gpu" -f "$scripts/common.awk" -f "$scripts/bench.awk" -f "$scripts/vendor.awk")
	[ -z "$series" ] || draw vendor $figure "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")"
fi
for file in ${gpu:+"$gpu"/trace_*.tsv}; do
	figure=$(basename "$file" .tsv)
	mkdir -p "$work/$figure"
	phases=$(awk -v folder="$work/$figure" -v file="$file" -v steps=5 -f "$scripts/common.awk" -f "$scripts/trace.awk" 2>/dev/null)
	[ -n "$phases" ] || continue
	title=$(sed -n -e '/^#/!q' -e 's/^# title: simulated //p' "$file" | tr -d "'\"\\\\")
	draw trace "$figure" "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")" "phases='$phases'; title='$title'"
done
if [ -n "$gpu" ] && [ -s "$gpu/kerr.tsv" ]; then
	mkdir -p "$work/kerr"
	fitted "$gpu" >"$work/profile.gp"
	series=$(awk -v folder="$work/kerr" -v data="$gpu" -v papers="$data/papers" \
		-f "$scripts/common.awk" -f "$scripts/kerr.awk")
	[ -z "$series" ] || draw kerr kerr "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")"
fi
if [ -n "$gpu" ] && [ -s "$gpu/update.tsv" ]; then
	mkdir -p "$work/update"
	maps=$(awk -v folder="$work/update" -v data="$gpu" -f "$scripts/common.awk" -f "$scripts/update.awk")
	[ -z "$maps" ] || draw update update "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")"
fi
if [ -s "$own/gram_host.tsv" ]; then
	mkdir -p "$work/gram_host"
	series=$(awk -v folder="$work/gram_host" -v data="$own" -f "$scripts/common.awk" -f "$scripts/gram_host.awk")
	[ -z "$series" ] || draw gram_host gram_host "$(machine_of "$own" cpu | tr -d "'\"\\\\")"
fi
if [ -n "$gpu" ] && [ -s "$gpu/bench.tsv" ]; then
	mkdir -p "$work/gram_schmidt"
	fitted "$gpu" >"$work/profile.gp"
	series=$(awk -v folder="$work/gram_schmidt" -v data="$gpu" -v papers="$data/papers" \
		-f "$scripts/common.awk" -f "$scripts/gram_schmidt.awk")
	[ -z "$series" ] || draw gram_schmidt gram_schmidt "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")"
fi
for figure in ${gpu:+small_gemm thin_gemm}; do
	mkdir -p "$work/$figure"
	series=$(awk -v folder="$work/$figure" -v data="$gpu" -v series="$figure" -f "$scripts/common.awk" -f "$scripts/lawn_products.awk")
	[ -z "$series" ] || draw "$figure" "$figure" "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")"
done
if [ -n "$gpu" ]; then
	figure=breakdown
	mkdir -p "$work/$figure"
	series=$(awk -v folder="$work/$figure" -v data="$gpu" -f "$scripts/common.awk" -f "$scripts/bench.awk" -f "$scripts/breakdown.awk")
	[ -z "$series" ] || draw breakdown $figure "$(machine_of "$gpu" gpu | tr -d "'\"\\\\")"
fi
if [ -z "$drawn" ]; then
	echo "plots: no figure could be drawn from ${own}${gpu:+ and $gpu}" >&2
	exit 1
fi
echo "figures in $figures:$drawn"
