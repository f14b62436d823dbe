# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by plots.sh and report.sh with the output folder as $1. Sets the folders that they read and write:
#   own     this machine's data, or data/NAME with MACHINE=NAME, or the recorded machine
#   gpu     the data of a GPU: own, else the recorded machine, else empty
#   report  the folder of the report, and figures in it
#   reason  why own is not the output folder, or empty
#   second  with MACHINES="NAME NAME" the data of the other machine; own is then that of the first
# shellcheck source=scripts/attend.sh
. "$scripts/../scripts/attend.sh"
LC_ALL=C # a decimal comma is no number to awk and gnuplot
export LC_ALL
home=${FATHOM_HOME:-$(cd "$scripts/.." && pwd)}
data=$home/data
[ "$home" != "$PWD" ] || data=data # short names where they do
recorded=$data/nvidia-h200
output=${1:-data/local}
output=${output%/}
report=$output/report
figures=$report/figures
own=$output
reason=
second=

has_gpu() { # folder: whether a GPU was measured there
	grep -q '^gpu\.' "$1/profile.tsv" 2>/dev/null || grep -qs '^# gpu_uuid: ' "$1/launch.tsv" "$1/copy.tsv"
}
has_data() {
	for file in "$1"/*.tsv; do
		[ "$file" = "$1/machine.tsv" ] || [ ! -s "$file" ] || return 0
	done
	return 1
}

if [ -n "${MACHINES-}" ]; then
	MACHINE=${MACHINES%% *} second=$data/${MACHINES#* }
	if [ "$MACHINE" = "$MACHINES" ] || ! has_data "$second"; then
		echo "report: MACHINES='$MACHINES' names no two machines with data:" \
			"$data holds $(cd "$data" 2>/dev/null && echo */)" >&2
		exit 1
	fi
fi
if [ -n "${MACHINE-}" ]; then
	own=$data/$MACHINE
	reason="MACHINE=$MACHINE in the environment chose this recorded machine"
	if ! has_data "$own"; then
		echo "report: there is no recorded data in $own (MACHINE=$MACHINE): fathom list names the machines that are there" >&2
		exit 1
	fi
elif ! has_data "$output"; then
	own=$recorded
	reason="$output holds no measurements yet (fathom probe makes them): the recorded machine answers"
fi
if ! has_data "$own"; then
	echo "report: nothing to show: $output holds no measurements and there is no recorded machine in $recorded;" \
		"run fathom probe" >&2
	exit 1
fi
if has_gpu "$own"; then
	gpu=$own
elif has_gpu "$recorded"; then
	gpu=$recorded
else
	gpu=
fi

# Every probe has a figure script, whose "# Parameters:" line names the parameters. These come first, in this order.
probes='launch device_launch barrier pointer_chase loaded_latency bank_conflict instruction copy transfer concurrency peer collective gemm_rate gemv_rate'
probes="$probes panel_kernel block_kernel host_chase host_exchange host_memory host_parallel host_gram host_rate"
# about SCRIPT KEY: the text of the line "# KEY: text" of a figure script. All scripts are read once.
abouts=$(awk -v quote="'" '
	match($0, /^# [A-Z][a-z]*: /) {
		name = FILENAME
		gsub(/.*\/|[.]gp$/, "", name)
		text = substr($0, RLENGTH + 1)
		gsub(quote, quote "\\" quote quote, text)
		print "about_" name "_" substr($0, 3, RLENGTH - 4) "=" quote text quote
	}' "$scripts"/*.gp)
eval "$abouts"
about() { eval "printf '%s\n' \"\${about_$1_$2-}\""; }
for name in $(echo "$abouts" | sed -n 's/^about_\(.*\)_Parameters=.*/\1/p'); do
	case " $probes " in
	*" $name "*) ;;
	*) probes="$probes $name" ;;
	esac
done
# The folder with a probe's curve.
source_of() {
	case $(about "$1" Parameters) in
	gpu.* | link.*) echo "$gpu" ;;
	*) echo "$own" ;;
	esac
}
# Figures of a chapter, those that answer it first.
figures_of_report='start memory inside transfer instructions host panel_cuda panel_host factor_s factor_d vendor scaling'
for file in "$gpu"/trace_*.svg; do
	[ ! -f "$file" ] || figures_of_report="$figures_of_report $(basename "$file" .svg)"
done
figures_of_report="$figures_of_report update gram errors memory_system"
[ "$gpu" = "$own" ] || figures_of_report="$figures_of_report errors_host"
figures_of_both='both_operations both_start both_memory both_inside both_links both_instructions both_host both_panel both_factor_s both_factor_d'
figures_of_papers='kerr gram_schmidt gram_host small_gemm thin_gemm breakdown lawn_own update_columns'

# Calls a function with each name, as many at once as there are processors. The folder takes marks of what has begun. On a terminal
# a live line tells what runs.
share_out() { # folder, function, name...
	begun=$1 function=$2
	shift 2
	count=$(nproc 2>/dev/null || echo 1)
	started=$(date +%s)
	while [ $((count -= 1)) -gt 0 ]; do
		work_off "$@" &
		attended="$attended $!"
	done
	work_off "$@" &
	attended="$attended $!"
	# shellcheck disable=SC2086 # several
	wait $attended
	attended='' ended=$!
	[ ! -t 2 ] || printf '\r\033[K' >&2
}
work_off() {
	trap 'exit 143' TERM
	for each in "$@"; do
		mkdir "$begun/$each.begun" 2>/dev/null || continue
		[ ! -t 2 ] || progress "$each" $#
		"$function" "$each"
	done
}
progress() { # what begins, how many there are
	set -- "$1" "$2" $(($(find "$begun" -maxdepth 1 -name '*.begun' | wc -l) - 1)) $(($(date +%s) - started))
	printf '\r\033[K[about %d s left]  %s: %d of %d' $((($2 - $3) * ($4 + 1) / ($3 + 1))) "$1" $(($3 + 1)) "$2" >&2
}

# A folder with what most programs read of another, since profile and results are long: rows of the hardware, single numbers and
# squares of products; results of panels; all other tables. The folder itself when it has no profile.
lean() { # folder, new folder
	[ -s "$1/profile.tsv" ] || { echo "$1" && return; }
	mkdir -p "$2"
	(cd "$1" && ln -s "$PWD"/*.tsv "$2" && rm "$2/profile.tsv")
	awk -F '\t' '/^#/ || $1 !~ /[[]/ || $8 == "hardware" || $1 ~ /^(gpu|host)[.]gemm[.][sd][[]|^gpu[.]cublas[.]/' "$1/profile.tsv" >"$2/profile.tsv"
	for results in predictions measurements; do
		[ -s "$1/$results.tsv" ] || continue
		rm "$2/$results.tsv"
		grep -E '^(#|operation|panel_getrf|ger	)' "$1/$results.tsv" >"$2/$results.tsv"
	done
	echo "$2"
}
lean_own_and_gpu() { # folder
	lean_own=$(lean "$own" "$1/own")
	lean_gpu=$lean_own
	[ "$gpu" = "$own" ] || lean_gpu=${gpu:+$(lean "$gpu" "$1/gpu")}
}
