# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
# Sourced by plots.sh and report.sh with the output folder as $1: which folders answer.
#   own     this machine's data (MACHINE=name in the environment: data/name); may be the recorded one
#   gpu     where GPU questions are answered: own, or the recorded machine, or empty
#   report  where figures and report go
#   reason  why own is not the output folder, or empty
home=${FATHOM_HOME:-$(cd "$scripts/.." && pwd)}
data=$home/data
[ "$home" != "$PWD" ] || data=data # short names where they do
recorded=$data/nvidia-h200
output=${1:-data/local}
output=${output%/}
report=$output/report
own=$output
reason=

has_gpu() { # folder: whether a GPU was measured there
	grep -q '^gpu\.' "$1/profile.tsv" 2>/dev/null || grep -qs '^# gpu_uuid: ' "$1/launch.tsv" "$1/copy.tsv"
}
has_data() {
	for file in "$1"/*.tsv; do
		case $file in
		*/machine.tsv) ;;
		*) [ ! -s "$file" ] || return 0 ;;
		esac
	done
	return 1
}

if [ -n "${MACHINE-}" ]; then
	own=$data/$MACHINE
	reason="the machine asked for by MACHINE=$MACHINE"
	if ! has_data "$own"; then
		echo "report: there is no recorded data in $own (MACHINE=$MACHINE): data/ holds" \
			"$(cd "$data" 2>/dev/null && echo */)" >&2
		exit 1
	fi
elif ! has_data "$output"; then
	own=$recorded
	reason="nothing is measured in $output yet (make probe does that), so the recorded machine answers"
fi
if ! has_data "$own"; then
	echo "report: nothing to show: $output holds no measurements and there is no recorded machine in $recorded;" \
		"run make probe" >&2
	exit 1
fi
if has_gpu "$own"; then
	gpu=$own
elif has_gpu "$recorded"; then
	gpu=$recorded
else
	gpu=
fi

# Every probe has a figure script; these first, in the order of the story.
probes='launch barrier pointer_chase loaded_latency bank_conflict instruction copy transfer concurrency peer gemm_rate gemv_rate'
probes="$probes panel_kernel block_kernel host_chase host_exchange host_memory host_parallel host_gram host_rate"
for script in "$scripts"/*.gp; do
	name=$(basename "$script" .gp)
	case " style panel memory_system factor vendor trace kerr gram_schmidt gram_host breakdown update small_gemm thin_gemm $probes " in
	*" $name "*) ;;
	*) probes="$probes $name" ;;
	esac
done
# "# KEY: text" of a figure script
about() { # script key
	sed -n "s/^# $2: //p" "$scripts/$1.gp"
}
# The folder that answers a probe's question.
source_of() {
	case $(about "$1" Parameters) in
	gpu.* | link.*) echo "$gpu" ;;
	*) echo "$own" ;;
	esac
}
