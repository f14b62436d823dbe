#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the profile of a build with code for an older architecture with that of the full build, on one GPU:
#   compare_builds.sh FULL LIMITED          folders with profile.tsv and the probes' curves
# A hardware parameter of the GPU or its links may differ by the larger of both intervals and 5 %. Lists those that differ by
# more, and the parameters that the limited build lacks, by family; a family that no "unavailable." line of LIMITED's curves explains
# is marked. Exit status: 0 all equal or explained, 1 some are not, 2 wrong usage.
set -u
LC_ALL=C
export LC_ALL

if [ $# -ne 2 ] || [ ! -f "$1/profile.tsv" ] || [ ! -f "$2/profile.tsv" ]; then
	echo "usage: compare_builds.sh FULL LIMITED: folders with profile.tsv" >&2
	exit 2
fi
cat "$2"/*.tsv | sed -n 's/^# unavailable\.\([^:]*\): \(.*\)/\1	\2/p' | sort -u |
	awk -F '\t' '
function family(name) {
	sub(/\[.*/, "", name)
	return name
}
FILENAME == "-" {
	reason[$1] = $2
	next
}
/^#/ || $1 == "parameter" || $8 != "hardware" || $1 !~ /^(gpu|link)\./ {
	next
}
FILENAME == full {
	value[$1] = $2; low[$1] = $4; high[$1] = $5; order[++count] = $1
	next
}
{
	seen[$1] = 1
	if (!($1 in value)) {
		printf "only in the limited build: %s\n", $1
		bad++
		next
	}
	compared++
	wide = high[$1] - low[$1]
	if ($5 - $4 > wide)
		wide = $5 - $4
	least = 0.05 * (value[$1] < 0 ? -value[$1] : value[$1])
	if (wide < least)
		wide = least
	gap = $2 - value[$1]
	if (gap < 0)
		gap = -gap
	if (!(gap <= wide)) {
		printf "%-60s full %-14s limited %-14s %s\n", $1, value[$1], $2, $9
		bad++
	}
}
END {
	for (i = 1; i <= count; i++)
		if (!(order[i] in seen))
			lacks[family(order[i])]++
	for (name in lacks) {
		why = "NOT EXPLAINED"
		for (series in reason)
			if (index(name, series) || index(series, substr(name, 5)))
				why = reason[series]
		bad += why == "NOT EXPLAINED"
		printf "lacks %d of %s: %s\n", lacks[name], name, why
	}
	printf "%d hardware parameters compared, %d to look at\n", compared, bad
	exit bad > 0
}' full="$1/profile.tsv" - "$1/profile.tsv" "$2/profile.tsv"
