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
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
drawn=

# The profile's single numbers as gnuplot variables, in profile.gp.
fitted() { # folder
	[ "${fitted_from-}" != "$1" ] || return 0
	fitted_from=$1
	awk -F '\t' '$2 ~ /^[0-9.]/ && $9 != "failed" && $1 ~ /^[A-Za-z][A-Za-z0-9_.]*$/ {
		gsub(/[.]/, "_", $1)
		printf "%s = %.9e\n", $1, $2
	}' "$1/profile.tsv" >"$work/profile.gp" 2>/dev/null
}
# Draws with gnuplot in the folder of the series: no path has to be quoted for it or for the commands it runs.
draw() { # script, figure, folder, the machine's key (gpu or cpu) in the profile, NAME=VALUE...
	script=$1 figure=$2
	machine=$(sed -n -e '/^#/!q' -e "s/^# $4: //p" "$3/profile.tsv" 2>/dev/null)
	[ "${machine:=none}" != none ] || machine='unnamed machine'
	fitted "$3"
	shift 4
	for setting in "work=." "scripts=$scripts" "out=figure.svg" "name=$figure" "machine=$machine" "$@"; do
		printf "%s = '%s'\n" "${setting%%=*}" "$(printf '%s\n' "${setting#*=}" | sed "s/'/''/g")"
	done >"$work/settings.gp"
	rm -f "$work/figure.svg"
	if (cd "$work" && gnuplot settings.gp "$scripts/$script.gp") >"$work/log" 2>&1 && grep -qs '</svg>' "$work/figure.svg"; then
		mv "$work/figure.svg" "$figures/$figure.svg"
		drawn="$drawn $figure"
	else
		echo "plots: $figure could not be drawn: $(grep -v '^ *^*$' "$work/log" | tail -n 1)" >&2
	fi
}
# Runs a figure's awk programs, which write its series; their output goes to `answer`. Status 1 without data.
series() { # figure, folder of the data, programs, awk options...
	answer=
	[ -n "$2" ] || return 1
	figure=$1 from=$2 programs=$3
	shift 3
	mkdir -p "$work/$figure"
	set -- -v folder="$work/$figure" -v data="$from" -v papers="$data/papers" "$@" -f "$scripts/common.awk"
	for program in $programs; do
		set -- "$@" -f "$scripts/$program.awk"
	done
	answer=$(awk "$@") && [ -n "$answer" ]
}

rm -f "$figures"/*.svg
for probe in $probes; do
	folder=$(source_of "$probe")
	if [ -z "$folder" ] || [ ! -s "$folder/$probe.tsv" ]; then
		continue
	fi
	mkdir -p "$work/$probe"
	awk -v folder="$work/$probe" -f "$scripts/common.awk" -f "$scripts/series.awk" "$folder/$probe.tsv" || continue
	key=gpu
	case $(about "$probe" Parameters) in
	host.*) key=cpu ;;
	esac
	draw "$probe" "$probe" "$folder" $key
done
if [ -n "$gpu" ] && [ -s "$gpu/pointer_chase.tsv" ]; then
	fitted "$gpu"
	! grep -q '^gpu_l[12]_size = ' "$work/profile.gp" || draw memory_system memory_system "$gpu" gpu
fi
! series panel_cuda "$gpu" panel -v executor=cuda || draw panel panel_cuda "$gpu" gpu nb="$answer" executor=cuda
! series panel_host "$own" panel -v executor=host || draw panel panel_host "$own" cpu nb="$answer" executor=host
! series factor_s "$gpu" 'bench factor' -v precision=s || draw factor factor_s "$gpu" gpu precision=single
! series factor_d "$gpu" 'bench factor' -v precision=d || draw factor factor_d "$gpu" gpu precision=double
! series vendor "$gpu" 'bench vendor' || draw vendor vendor "$gpu" gpu
for file in "$gpu"/trace_*.svg; do # drawn by trace --svg
	[ ! -f "$file" ] || { cp "$file" "$figures" && drawn="$drawn $(basename "$file" .svg)"; }
done
! series kerr "$gpu" kerr || draw kerr kerr "$gpu" gpu
! series update "$gpu" update || draw update update "$gpu" gpu
! series gram_host "$own" gram_host || draw gram_host gram_host "$own" cpu
! series gram_schmidt "$gpu" gram_schmidt || draw gram_schmidt gram_schmidt "$gpu" gpu
for figure in small_gemm thin_gemm; do
	! series $figure "$gpu" lawn_products -v figure_of=$figure || draw "$figure" "$figure" "$gpu" gpu
done
! series breakdown "$gpu" 'bench breakdown' || draw breakdown breakdown "$gpu" gpu
if [ -z "$drawn" ]; then
	echo "plots: no figure could be drawn from ${own}${gpu:+ and $gpu}" >&2
	exit 1
fi
echo "figures in $figures${reason:+ ($own: $reason)}:$drawn"
