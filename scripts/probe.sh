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
for name in $host_probes $gpu_probes; do
	probe "$name"
done
"$bin/fit" --output "$output" || failed="$failed fit"
echo "measured in $(($(date +%s) - started)) s, written to $output"
if [ -n "$failed" ]; then
	echo "probe: failed:$failed (curves that were measured are kept in $output)" >&2
	exit 1
fi
