#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-work: counters of one call at each point of tests/work/points.txt, and their comparison with the work that our kernels
# state, into OUTPUT/work.tsv. Exit status: 0 all amounts hold, 1 some are off, 77 no counters here.
# Usage: sh scripts/check_work.sh BUILD OUTPUT FOLDER-FOR-COUNTERS
build=$1 output=$2 folder=$3
here=$(dirname "$0")
list=$here/../tests/work/points.txt
number=0
mkdir -p "$folder" || exit 1
while read -r surface program series point; do
	number=$((number + 1))
	case $surface in '' | '#'*) continue ;; esac
	case $point in *cold=1*) cache=all ;; *) cache=none ;; esac
	CACHE=$cache sh "$here/ncu.sh" "$folder/$number.csv" "$build/bin/$program" --profile "${series}[$point]" </dev/null || exit $?
done <"$list"
"$build/tests/work/check_work" "$list" "$folder" --output "$output"
