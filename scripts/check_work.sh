#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-work: counters of one call at each point of tests/work/points.txt, and their comparison with the work that our kernels
# state, into OUTPUT/work.tsv. Calls start for WORK_SECONDS (180); points whose counters are newer than their program are not
# profiled again, so the next run continues. Exit status: 0 all amounts hold, 1 some are off, 77 no counters here, or none is
# off and some points are not profiled.
# Usage: sh scripts/check_work.sh BUILD OUTPUT FOLDER-FOR-COUNTERS
build=$1 output=$2 folder=$3
here=$(dirname "$0")
list=$here/../tests/work/points.txt
mkdir -p "$folder" || exit 1
COUNTERS=$(sh "$here/ncu.sh" --counters) || exit $?
export COUNTERS

# Lines "cache program series point"; the calls start side by side, and ncu itself lets one at a time be profiled.
while read -r surface program series point; do
	case $surface in '' | '#'*) continue ;; esac
	[ -z "$(find "$folder/$series,$point.csv" -newer "$build/bin/$program" 2>/dev/null)" ] || continue
	case $point in *cold=1*) cache=all ;; *) cache=none ;; esac
	echo "$cache $program $series $point"
done <"$list" >"$folder/calls"

end=$(($(date +%s) + ${WORK_SECONDS:-180}))
export build here folder end
rm -f "$folder/status"
# shellcheck disable=SC2016
xargs -P 4 -L 1 sh -c '
	[ "$(date +%s)" -lt "$end" ] || exit 0
	file=$folder/$2,$3.csv
	CACHE=$0 sh "$here/ncu.sh" "$file.part" "$build/bin/$1" --profile "$2[$3]" </dev/null && mv "$file.part" "$file" && exit
	[ $? = 77 ] && echo 77 >"$folder/status" && exit 255
	exit 0' <"$folder/calls" || exit "$(cat "$folder/status" || echo 1)"
"$build/tests/work/check_work" "$list" "$folder" --output "$output"
