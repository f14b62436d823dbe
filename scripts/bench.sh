#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares our factorizations with cuSOLVER and the host, and measures the papers' tables. Keeps results in OUTPUT, so an
# interrupted run resumes.
# Usage: sh scripts/bench.sh BIN OUTPUT      BENCH_OPTIONS (--model-plans) go to measure --bench
set -u
LC_ALL=C
export LC_ALL

bin=$1
output=$2
start=$(date +%s)
failed=

# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"

measure() { # name of the study, options
	study=$1
	shift
	attend "$bin/measure" --output "$output" "$@"
	status=$?
	case $status in
	0) ;;
	77) echo "bench: not here: $study" >&2 ;;
	129 | 130 | 143) exit "$status" ;;
	*) failed="$failed $study," ;;
	esac
}

# shellcheck disable=SC2086 # several options in one variable
measure 'factorizations' --bench ${BENCH_OPTIONS-}
measure 'QR by phases' --kerr
measure 'changes of a QR by blocks' --paper
measure 'Gram-Schmidt on the host' --gram-host
echo "bench: $(($(date +%s) - start)) s"
if [ -n "$failed" ]; then
	echo "bench: failed: ${failed# } for the reason above; finished measurements are kept in $output" >&2
	exit 1
fi
