#!/bin/sh
# SPDX-License-Identifier: MIT
# Profiles what a program runs between the profiler's start and stop, and writes a file that `advise kernel --ncu` reads: a row
# a launch, with the counters that factor/programs/kernel_counters.c knows and this ncu has. NCU names the program; CACHE=all
# empties L2 before each pass (none). Exit status 77, with the reason: no ncu, or no permission to read counters.
# `--counters` prints the names; COUNTERS takes them, so that many calls in a row ask ncu once.
# Usage: sh scripts/ncu.sh FILE.csv PROGRAM [ARGUMENT ...] | --counters
here=$(cd "$(dirname "$0")" && pwd) || exit 1
file=$1
shift
ncu=${NCU:-$(command -v ncu)}
for place in "${CUDA_HOME:-/usr/local/cuda}/bin/ncu" /opt/nvidia/nsight-compute/*/ncu; do
	[ -n "$ncu" ] || [ ! -x "$place" ] || ncu=$place
done
if [ -z "$ncu" ]; then
	echo "ncu.sh: no ncu found (PATH, CUDA_HOME, /opt/nvidia/nsight-compute): install Nsight Compute, or name it by NCU" >&2
	exit 77
fi
said=
trap 'rm -f "$said"' EXIT
trap 'exit 1' HUP INT TERM
said=$(mktemp) || exit 1

# The counters' names, with commas; of those that the device knows, when ncu tells.
counters() {
	known=$(sed -n 's/^ *{"\([a-z0-9]*__[a-z0-9_.]*\)".*/\1/p' "$here/../factor/programs/kernel_counters.c")
	if "$ncu" --query-metrics >"$said" 2>&1 && grep -q '^dram__bytes_' "$said"; then
		known=$(for m in $known; do
			case $m in launch__*) echo "$m" ;; *) grep -q "^${m%%.*} " "$said" && echo "$m" ;; esac
		done)
	fi
	echo "$known" | paste -sd, -
}
COUNTERS=${COUNTERS:-$(counters)}
if [ "$file" = --counters ]; then
	echo "$COUNTERS"
	exit 0
fi
mkdir -p "$(dirname "$file")" || exit 1

profile() {
	"$ncu" --csv --page raw --print-units auto --profile-from-start off --cache-control "${CACHE:-none}" --clock-control none \
		--log-file "$file" "$@" >"$said" 2>&1
}
# Runs side by side disturb each other at times, so a failed one is repeated; an ncu that lacks a counter knows its whole set.
# It does not launch a cooperative kernel in clusters again (LaunchFailed): then the program runs again for each pass.
replay=
for counters in "--metrics $COUNTERS" "--metrics $COUNTERS" "--set full"; do
	# shellcheck disable=SC2086 # an option and its value
	profile $replay $counters "$@" && grep -q '^"ID"' "$file" && break
	! grep -q ERR_NVGPUCTRPERM "$said" "$file" 2>/dev/null || break
	! grep -q LaunchFailed "$said" "$file" 2>/dev/null || replay='--replay-mode application'
done
if grep -q ERR_NVGPUCTRPERM "$said" "$file" 2>/dev/null; then
	echo "ncu.sh: this user may not read the GPU's counters (ERR_NVGPUCTRPERM): ask for it, or run as root" >&2
	exit 77
fi
if ! grep -q '^"ID"' "$file" 2>/dev/null || grep -q '^==ERROR==' "$file"; then
	echo "ncu.sh: $* was not profiled:" >&2
	cat "$said" "$file" 2>/dev/null | tail -n 5 >&2
	exit 1
fi
