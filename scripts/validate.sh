#!/bin/sh
# SPDX-License-Identifier: MIT
# Predicts, measures at shapes drawn by a new seed and at fixed ones, and compares, in at most ten minutes. A large error is
# no failure. VALIDATE_OPTIONS: --quick for fewer shapes, no changes of a QR factorization, no timeline; --seed=N repeats shapes.
# Usage: sh scripts/validate.sh BIN OUTPUT
set -u
LC_ALL=C
export LC_ALL

bin=$1
output=$2
start=$(date +%s)

finish() {
	echo "validate: $(($(date +%s) - start)) s"
	exit
}

# shellcheck disable=SC2086 # words
"$bin/predict" ${VALIDATE_OPTIONS-} --output "$output" || exit

# validate also reports refused and wrong runs. Only an interruption, or no measurement at all, ends this script.
interrupted=
trap 'interrupted=1' INT TERM
"$bin/measure" --output "$output" --budget 360
status=$?
trap - INT TERM
[ -z "$interrupted" ] || exit 130
case $status in
0) ;;
1) [ -f "$output/measurements.tsv" ] || exit 1
	echo "validate: some runs failed; they have no time below" >&2 ;;
*) exit "$status" ;;
esac

"$bin/validate" --output "$output" || exit
case ${VALIDATE_OPTIONS-} in *--quick*) finish ;; esac

# Changes of a QR factorization: update or factorize again, as the model advises and as measured.
if grep -q '	cuda	' "$output/measurements.tsv"; then
	"$bin/predict" --update --output "$output" && "$bin/measure" --update --output "$output" --budget 75 &&
		"$bin/validate" --update --output "$output" ||
		echo "validate: the changes of a QR factorization are not all measured" >&2
fi

# One LU step by step, simulated and measured.
if grep -q '	cuda	' "$output/measurements.tsv"; then
	timelines=$output/trace_sgetrf_8192
	"$bin/trace" getrf --n 8192 --output "$output" --tsv "$timelines.tsv" --svg "$timelines.svg" >/dev/null ||
		echo "validate: the timeline of an LU is not recorded" >&2
fi
finish
