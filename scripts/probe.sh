#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures this machine and fits its profile; `fathom probe` runs it:
#   scripts/probe.sh BIN OUTPUT DEVICE --json|"" "hardware probes" "calibration" [OPTION]...
# Both lists mix host and GPU probes: those whose names begin with host_ need no GPU. The options go to the probes.
set -u
LC_ALL=C
export LC_ALL
bin=$1 output=$2 device=$3 json=$4 hardware=$5 calibration=$6
shift 6
started=$(date +%s)
failed=

exec 3>&1 # for the profile as JSON; what is said then goes to stderr
[ -z "$json" ] || exec >&2

say() {
	echo "$*" | fold -s -w 100 | sed 's/ *$//'
}

trap 'exit 130' INT
trap 'exit 143' TERM

fact() {
	awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$output/machine.tsv"
}

# Curves of an absent GPU would mix two machines in one profile.
remove_gpu_curves() {
	for curve in "$output"/*.tsv; do
		if grep -q '^# probe: ' "$curve" && grep -q '^# gpu_uuid: ' "$curve"; then
			rm -f "$curve"
			echo "probe: removed $curve, measured on a GPU that is not here" >&2
		fi
	done
}

chosen() { # grep's options, list of names: the names that grep chooses
	list=$2
	# shellcheck disable=SC2086 # words
	printf '%s\n' $list | grep $1 | tr '\n' ' '
}

choose() { # grep's options
	hardware=$(chosen "$1" "$hardware") calibration=$(chosen "$1" "$calibration")
}

if ! "$bin/machine" --device "$device" --output "$output" >/dev/null; then
	echo "probe: cannot describe this machine; nothing was measured" >&2
	exit 1
fi
if [ "$(fact gpu.name)" = none ]; then
	reason=$(fact gpu.reason)
	say "no GPU: ${reason#no GPU: }; GPU questions use the recorded machine data/nvidia-h200"
	remove_gpu_curves
	choose '-e ^host_'
elif [ "$(fact gpu.visible)" = 1 ]; then
	echo "probe: one visible GPU: links between GPUs (peer) are not measured" >&2
	choose '-v -x peer'
fi
say "hardware: ${hardware% }"
say "libraries and our own kernels: ${calibration% }"
# shellcheck disable=SC2086 # lists of names
"$bin/probe" "$@" $hardware $calibration >/dev/null
status=$?
case $status in
0) ;;
130 | 143) exit "$status" ;;
*) failed=" (a probe)" ;;
esac
"$bin/fit" --output "$output" ${json:+"$json"} >&3 || failed="$failed (the fit)"
echo "measured in $(($(date +%s) - started)) s, written to $output"
if [ -n "$failed" ]; then
	echo "probe: failed:$failed, for the reason above; curves that were measured are kept in $output" >&2
	exit 1
fi
