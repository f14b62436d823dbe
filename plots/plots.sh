#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws figures into OUTPUT/report/figures (SVG), as many at once as there are processors.
# Usage: sh plots/plots.sh OUTPUT [FIGURE...]   without names all; exit 1 when no figure could be drawn
# shellcheck disable=SC2317 # share_out calls by name
set -u
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=plots/sources.sh
. "$scripts/sources.sh"
[ $# -eq 0 ] || shift
# shellcheck disable=SC2086 # names are words
[ $# -gt 0 ] || set -- $probes $figures_of_report $figures_of_papers

if ! command -v gnuplot >/dev/null; then
	echo "plots: figures need gnuplot: make setup installs it" >&2
	exit 1
fi
mkdir -p "$figures" || exit 1
top=
trap 'rm -rf "$top"' EXIT
top=$(mktemp -d) || exit 1

# The profile's single numbers as gnuplot variables.
fitted() { # folder, file
	awk -F '\t' '$2 ~ /^[0-9.]/ && $9 != "failed" && $1 ~ /^[A-Za-z][A-Za-z0-9_.]*$/ {
		gsub(/[.]/, "_", $1)
		printf "%s = %.9e\n", $1, $2
	}' "$1/profile.tsv" 2>/dev/null >"$2"
}
# Draws with gnuplot in the folder of the series: no path has to be quoted for it or for the commands it runs.
draw() { # script, folder, the machine's key (gpu or cpu) in the profile, NAME=VALUE...
	script=$1 folder=$2
	machine=$(sed -n -e '/^#/!q' -e "s/^# $3: //p" "$folder/profile.tsv" 2>/dev/null)
	[ "${machine:=none}" != none ] || machine='unnamed machine'
	if [ "$folder" = "$own" ]; then cp "$top/own.gp" "$work/profile.gp"; else cp "$top/gpu.gp" "$work/profile.gp"; fi
	shift 3
	for setting in "work=." "scripts=$scripts" "out=figure.svg" "name=$figure" "machine=$machine" "$@"; do
		printf "%s = '%s'\n" "${setting%%=*}" "$(printf '%s\n' "${setting#*=}" | sed "s/'/''/g")"
	done >"$work/settings.gp"
	script_text=$scripts/$script.gp
	if ! grep -q hypertext "$script_text"; then # report.js tells the values
		awk '{ print } /^[ \t]*(if [^{]*)?plot / { inside = 1 } inside && !/\\$/ { inside = 0; print "eval frame" }' "$script_text" >"$work/script.gp"
		script_text=script.gp
	fi
	# in a process group of its own: interrupted at the wrong moment gnuplot waits for itself forever
	if (cd "$work" && timeout -s KILL 60 gnuplot settings.gp "$script_text") >"$work/log" 2>&1 && grep -qs '</svg>' "$work/figure.svg"; then
		awk -v frames="$(cd "$work" && awk -f "$scripts/frames.awk" frames 2>/dev/null)" -f "$scripts/svg.awk" "$work/figure.svg" >"$figures/$figure.svg"
	else
		echo "plots: $figure could not be drawn: $(grep -v '^ *^*$' "$work/log" | tail -n 1)" >&2
	fi
}
# Runs a figure's awk programs, which write its series; their output goes to `answer`. Status 1 without data.
series() { # folder of the data, programs, awk options...
	[ -n "$1" ] || return 1
	from=$1 programs=$2
	shift 2
	mkdir -p "$work/$figure"
	set -- -v folder="$work/$figure" -v data="$from" -v papers="$data/papers" "$@" -f "$scripts/common.awk"
	for program in $programs; do
		set -- "$@" -f "$scripts/$program.awk"
	done
	answer=$(awk "$@") && [ -n "$answer" ]
}
# The curves of probes as series; status 1 without any.
curves() { # folder, probe...
	some='' from=$1
	shift
	for probe in "$@"; do
		if [ -n "$from" ] && [ -s "$from/$probe.tsv" ] && mkdir -p "$work/$probe"; then
			awk -v folder="$work/$probe" -f "$scripts/common.awk" -f "$scripts/series.awk" "$from/$probe.tsv" && some=yes
		fi
	done
	[ -n "$some" ]
}
# Series of both machines, in first and second; status 1 unless both have some.
both() { # awk programs, options...
	programs=$1
	shift
	for side in first second; do
		mkdir -p "$work/$side"
		figure=$side series "$(folder_of $side)" "$programs" "$@" || return 1
	done
}
both_curves() { # probe...; shown_series: a pattern
	for side in first second; do
		mkdir -p "$work/$side"
		for probe in "$@"; do
			grep -E "^(#|series	|$shown_series)" "$(folder_of $side)/$probe.tsv" 2>/dev/null |
				awk -v folder="$work/$side" -f "$scripts/common.awk" -f "$scripts/series.awk"
		done
		[ -n "$(ls "$work/$side")" ] || return 1
	done
}
folder_of() { if [ "$1" = first ]; then echo "$own"; else echo "$second"; fi; }
whole() { # precision
	echo "getrf_gpu:n:Tflop:n:LU,_n_x_n,_$1 geqrf_gpu:n:Tflop:n:QR,_n_x_n,_$1 potrf_gpu:n:Tflop:n:Cholesky,_n_x_n,_$1"
}
draw_both() { # script, NAME=VALUE...
	draw "$1" "$own" gpu first="$(basename "$own")" second="$(basename "$second")" ${2:+"$2"}
}
key_of() { # parameters
	case $1 in host.*) echo cpu ;; *) echo gpu ;; esac
}
one() { # figure
	figure=$1 work=$top/$1
	mkdir "$work"
	ln -s "$scripts" "$work/scripts"
	case $figure in
	start | inside | instructions) ! series "$lean_gpu" ladder -v rows="$scripts/ladders.tsv" -v chapter="$figure" || draw ladder "$gpu" gpu ;;
	host) ! series "$lean_own" ladder -v rows="$scripts/ladders.tsv" -v chapter=host || draw ladder "$own" cpu ;;
	memory)
		[ -z "$gpu" ] || for probe in pointer_chase copy; do # the chains and copies that the figure shows
			grep -E '^(#|series	|chain_c[ag]	|copy_)' "$gpu/$probe.tsv" >"$work/$probe.tsv" 2>/dev/null
		done
		! curves "$work" pointer_chase copy || draw memory "$gpu" gpu
		;;
	pointer_chase) # without the series that no figure shows
		[ -z "$gpu" ] || grep -Ev '^(slice|once_before|constant_first|cycle_c[gv]|entries_c[ag])	' "$gpu/pointer_chase.tsv" >"$work/pointer_chase.tsv" 2>/dev/null
		! curves "$work" pointer_chase || draw pointer_chase "$gpu" gpu
		;;
	memory_system) ! grep -qs '^gpu_l[12]_size = ' "$top/gpu.gp" || draw memory_system "$gpu" gpu ;;
	panel_cuda) ! series "$lean_gpu" panel -v executor=cuda || draw panel "$gpu" gpu nb="$answer" executor=cuda ;;
	panel_host) ! series "$lean_own" panel -v executor=host || draw panel "$own" cpu nb="$answer" executor=host ;;
	factor_s) ! series "$lean_gpu" 'bench factor' -v precision=s || draw factor "$gpu" gpu precision=single ;;
	factor_d) ! series "$lean_gpu" 'bench factor' -v precision=d || draw factor "$gpu" gpu precision=double ;;
	vendor | breakdown | scaling | lawn_own) ! series "$gpu" "bench $figure" || draw "$figure" "$gpu" gpu ;;
	gram) ! series "$lean_gpu" gram_schmidt -v only=best || draw gram "$gpu" gpu ;;
	kerr | update | gram_schmidt) ! series "$lean_gpu" "$figure" || draw "$figure" "$gpu" gpu ;;
	update_columns) ! series "$gpu" update_columns || draw update_columns "$gpu" gpu largest="$answer" ;;
	gram_host) ! series "$own" gram_host || draw gram_host "$own" cpu ;;
	small_gemm | thin_gemm) ! series "$lean_gpu" lawn_products -v figure_of="$figure" || draw "$figure" "$gpu" gpu ;;
	errors) ! series "$gpu" error_curves || draw errors "$gpu" gpu ;;
	errors_host) ! series "$own" error_curves || draw errors "$own" cpu ;;
	both_operations) ! series "$own" side_by_side -v file="$report/side_by_side.tsv" || draw_both ratios ;;
	both_start | both_inside | both_instructions | both_host)
		! series "$own" ladder -v rows="$scripts/ladders.tsv" -v chapter="${figure#both_}" -v second="$second" || draw_both ladder
		;;
	both_memory)
		shown_series='chain_cg	|copy_cold	'
		! both_curves pointer_chase copy || draw_both overlay panels='chain_cg:bytes:ns:bytes:Latency_of_a_load_past_L1,_random_chain copy_cold:bytes:GB:bytes:Copy_within_device_memory'
		;;
	both_links)
		shown_series='h2d_pinned	|d2h_pinned	'
		! both_curves transfer || draw_both overlay panels='h2d_pinned:bytes:GB:bytes:Pinned_memory_to_the_GPU,_payload d2h_pinned:bytes:GB:bytes:From_the_GPU_to_pinned_memory'
		;;
	both_panel)
		! both panel -v executor=cuda || draw_both overlay panels='measured_persistent:m:Gflop:m:LU_panel,_one_persistent_kernel measured_blas:m:Gflop:m:LU_panel,_library_calls'
		;;
	both_factor_s) ! both 'bench factor' -v precision=s || draw_both overlay panels="$(whole single)" ;;
	both_factor_d) ! both 'bench factor' -v precision=d || draw_both overlay panels="$(whole double)" ;;
	trace_*) cp "$gpu/$figure.svg" "$figures" ;; # drawn by trace --svg
	*) ! curves "$(source_of "$figure")" "$figure" || draw "$figure" "$from" "$(key_of "$(about "$figure" Parameters)")" ;;
	esac
	rm -rf "$work"
}
mkdir "$top/lean"
lean_own_and_gpu "$top/lean"
fitted "$lean_own" "$top/own.gp"
fitted "$lean_gpu" "$top/gpu.gp"
for name in "$@"; do
	rm -f "$figures/$name.svg"
done
share_out "$top" one "$@"
drawn=
for name in "$@"; do
	[ ! -s "$figures/$name.svg" ] || drawn="$drawn $name"
done
if [ -z "$drawn" ]; then
	echo "plots: no figure could be drawn from ${own}${gpu:+ and $gpu}" >&2
	exit 1
fi
echo "figures in $figures${reason:+ ($own: $reason)}:$drawn"
