#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures this machine and fits its profile; `fathom probe` runs it:
#   scripts/probe.sh BIN OUTPUT DEVICE --json|"" "hardware probes" "calibration" [OPTION]...
# Both lists mix host and GPU probes: those whose names begin with host_ need no GPU. The options go to the probes.
# An interrupted run leaves OUTPUT/probe.unfinished. The same command goes on with it for a day: it keeps curves that were measured since.
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

# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"

fact() {
	awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$output/machine.tsv"
}

# Curves of an absent GPU would mix two machines in one profile.
# With them goes the profile, from which the fit would keep their parameters.
remove_gpu_curves() {
	for curve in "$output"/*.tsv; do
		if grep -q '^# probe: ' "$curve" && grep -q '^# gpu_uuid: ' "$curve"; then
			rm -f "$curve" "$output/profile.tsv"
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

# Of the probes named, those still to be measured: a quick curve is none of a full run.
quick=no
for word; do
	case $word in -q | --quick) quick=yes ;; esac
done
missing() {
	for probe in $1; do
		[ -n "$(find "$output/$probe.tsv" -newer "$unfinished" 2>/dev/null)" ] && grep -qx "# quick: $quick" "$output/$probe.tsv" || echo "$probe"
	done | tr '\n' ' '
}

if ! attend "$bin/machine" --device "$device" --output "$output" >/dev/null; then
	echo "probe: cannot describe this machine; nothing was measured" >&2
	exit 1
fi
if [ "$(fact gpu.name)" = none ]; then
	reason=$(fact gpu.reason)
	say "no GPU: ${reason#no GPU: }; GPU questions use the recorded machine data/nvidia-h200"
	remove_gpu_curves
	choose '-e ^host_'
elif [ "$(fact gpu.visible)" = 1 ]; then
	echo "probe: one visible GPU: links between GPUs (peer, collective) are not measured" >&2
	choose '-v -x -e peer -e collective'
fi
say "hardware: ${hardware% }"
say "libraries and our own kernels: ${calibration% }"
unfinished=$output/probe.unfinished
run="$("$bin/machine" --version) $(fact machine) $*"
if [ "$(find "$unfinished" -mtime -1 -exec cat {} + 2>/dev/null)" = "$run" ]; then
	all="$hardware $calibration"
	hardware=$(missing "$hardware") calibration=$(missing "$calibration")
	say "goes on with an interrupted run: $(echo "$all" | wc -w) probes," \
		"$(echo "$hardware $calibration" | wc -w) to be measured (without $unfinished it begins anew)"
else
	echo "$run" >"$unfinished" || exit 1
fi
status=0
# shellcheck disable=SC2086 # lists of names
[ -z "$hardware$calibration" ] || attend "$bin/probe" "$@" $hardware $calibration >/dev/null || status=$?
case $status in
0) ;;
129 | 130 | 143) exit "$status" ;;
*) failed=" (a probe)" ;;
esac
attend "$bin/fit" --output "$output" ${json:+"$json"} >&3 || failed="$failed (the fit)"
rm -f "$unfinished"
echo "measured in $(($(date +%s) - started)) s, written to $output"
if [ -n "$failed" ]; then
	echo "probe: failed:$failed, for the reason above; curves that were measured are kept in $output" >&2
	exit 1
fi
