#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures this machine: scripts/probe.sh BIN OUTPUT "host probes" "gpu probes". One program at a
# time; at the end the fit prints the summary. PROBE_OPTIONS (--quick) go to every probe.
set -u
bin=$1 output=$2 host_probes=$3 gpu_probes=$4
started=$(date +%s)
failed=

trap 'exit 130' INT
trap 'exit 143' TERM

fact()
{
	awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$output/machine.tsv"
}

# How long a probe took last time, here or on the recorded machine, if that was as quick as now.
expected()
{
	quick=no
	case " ${PROBE_OPTIONS:-} " in *" --quick "* | *" -q "*) quick=yes ;; esac
	for folder in "$output" data/nvidia-h200; do
		if grep -qs "^# quick: $quick" "$folder/$1.tsv"; then
			sed -n -e '/^#/!q' -e 's/^# wall_seconds: //p' "$folder/$1.tsv"
			return
		fi
	done
}

# What the progress line of a probe starts with: "[3 of 17, about 62 s left]".
place()
{
	left=$(for name in "$@"; do expected "$name"; done |
		awk '{ s += $1 } END { if (s) printf ", about %.0f s left", s }')
	echo "[$((total - $# + 1)) of $total$left]"
}

probe()
{
	# shellcheck disable=SC2086 # several options in one variable
	"$bin/$1" --output "$output" ${PROBE_OPTIONS:-} >/dev/null
	case $? in
	0) ;;
	77) echo "probe: $1 is not possible here, for the reason above" >&2 ;;
	130 | 143) exit 130 ;;
	*) failed="$failed $1" ;;
	esac
}

# Curves of a GPU that was here once would mix two machines in one profile.
remove_gpu_curves()
{
	for curve in "$output"/*.tsv; do
		if grep -q '^# probe: ' "$curve" && grep -q '^# gpu_uuid: ' "$curve"; then
			rm -f "$curve"
			echo "probe: removed $curve, measured on a GPU that is not here" >&2
		fi
	done
}

if ! "$bin/machine" --output "$output" >/dev/null; then
	echo "probe: cannot describe this machine; nothing was measured" >&2
	exit 1
fi
if [ "$(fact gpu.name)" = none ]; then
	reason=$(fact gpu.reason)
	echo "no GPU: ${reason#no GPU: }; GPU questions use the recorded machine data/nvidia-h200"
	remove_gpu_curves
	gpu_probes=
fi
# shellcheck disable=SC2086 # lists of names
set -- $host_probes $gpu_probes
total=$#
while [ $# -gt 0 ]; do
	FATHOM_PLACE=$(place "$@")
	export FATHOM_PLACE
	probe "$1"
	shift
done
"$bin/fit" --output "$output" || failed="$failed fit"
echo "measured in $(($(date +%s) - started)) s, written to $output"
if [ -n "$failed" ]; then
	echo "probe: failed:$failed (curves that were measured are kept in $output)" >&2
	exit 1
fi
