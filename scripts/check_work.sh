#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-work: counters of one call at each point of tests/work/points.txt, and their comparison with the work that our kernels
# state, into OUTPUT/work.tsv. Exit status: 0 all amounts hold, 1 some are off, 77 no counters here.
# Usage: sh scripts/check_work.sh BUILD OUTPUT FOLDER-FOR-COUNTERS
build=$1 output=$2 folder=$3
here=$(dirname "$0")
list=$here/../tests/work/points.txt
mkdir -p "$folder" || exit 1
COUNTERS=$(sh "$here/ncu.sh" --counters) || exit $?
export COUNTERS

# Lines "number cache program series[point]"; the calls start side by side, and ncu itself lets one at a time be profiled.
number=0
while read -r surface program series point; do
	number=$((number + 1))
	case $surface in '' | '#'*) continue ;; esac
	case $point in *cold=1*) cache=all ;; *) cache=none ;; esac
	echo "$number $cache $program ${series}[$point]"
done <"$list" >"$folder/calls"

export build here folder
rm -f "$folder/status"
# shellcheck disable=SC2016
xargs -P 4 -L 1 sh -c '
	CACHE=$1 sh "$here/ncu.sh" "$folder/$0.csv" "$build/bin/$2" --profile "$3" </dev/null && exit
	echo $? >"$folder/status"
	exit 255' <"$folder/calls" || exit "$(cat "$folder/status" || echo 1)"
"$build/tests/work/check_work" "$list" "$folder" --output "$output"
