#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures what the report sets beside the model: our factorizations against cuSOLVER's and the host's, and the
# tables of the papers by our own means. What OUTPUT has of the long ones stays, so that an interrupted run goes on.
# Usage: sh scripts/bench.sh BIN OUTPUT      BENCH_OPTIONS (--chosen) go to measure --bench
set -u

bin=$1
output=$2
start=$(date +%s)
failed=

trap 'exit 130' INT
trap 'exit 143' TERM

measure() { # what it is called, options
	what=$1
	shift
	"$bin/measure" --output "$output" "$@"
	status=$?
	case $status in
	0) ;;
	77) echo "bench: not here: $what" >&2 ;;
	130 | 143) exit "$status" ;;
	*) failed="$failed $what," ;;
	esac
}

# shellcheck disable=SC2086 # several options in one variable
measure 'factorizations' --bench ${BENCH_OPTIONS-}
measure 'QR by phases' --kerr
measure 'changes of a QR by blocks' --paper
measure 'Gram-Schmidt on the host' --gram-host
echo "bench: $(($(date +%s) - start)) s"
if [ -n "$failed" ]; then
	echo "bench: failed: ${failed# } for the reason above; what was measured is kept in $output" >&2
	exit 1
fi
