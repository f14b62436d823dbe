#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the profile of a build with code for an older architecture with that of the full build, on one GPU:
#   compare_builds.sh FULL LIMITED [AGAIN]    folders with profile.tsv and the probes' curves; AGAIN: LIMITED's build, measured again
# A hardware parameter of the GPU or its links may differ by the larger of both intervals and 5 %, or be as close in AGAIN. Lists
# the parameters that differ by more, those that one build lacks, and why: series that LIMITED's curves note as "unavailable.", by
# name or by the table below. Exit status: 0 all equal or explained, 1 some are not, 2 wrong usage.
set -u
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	echo "usage: compare_builds.sh FULL LIMITED [AGAIN]: folders with profile.tsv" >&2
	exit 2
fi
for folder; do
	if [ ! -f "$folder/profile.tsv" ]; then
		echo "usage: compare_builds.sh FULL LIMITED [AGAIN]: $folder has no profile.tsv" >&2
		exit 2
	fi
done
# Parameters that follow from a series of another name, the series, and why.
reasons='^gpu[.]saturation[.]dram[.]bytes	inflight	fitted from these streams
^gpu[.]engine[.]read	inflight	fitted from these streams
^gpu[.]sm[.]read[.]	sms	fitted from these streams
^gpu[.]mma[.]d[.]sustained	mma.d16	the sustained rate is of the fastest product that the build has
^gpu[.]mma[.]bf16[.]sustained	wgmma.bf16	the sustained rate is of the fastest product that the build has
^gpu[.]mma[.]tf32[.]sustained	wgmma.tf32	the sustained rate is of the fastest product that the build has
^gpu[.]reduce[.]max	warp.redux	the maximum of a warp takes shuffles
^gpu[.]exchange[.]grid	warp.redux	a warp finds the winner by shuffles'
{
	echo "$reasons" | sed 's/^/reason	/'
	cat "$2"/*.tsv | sed -n 's/^# unavailable\.\([^:]*\): \(.*\)/unavailable	\1	\2/p' | sort -u
	[ $# -eq 2 ] || sed 's/^/again	/' "$3/profile.tsv"
	sed 's/^/full	/' "$1/profile.tsv"
	sed 's/^/limited	/' "$2/profile.tsv"
} | awk -F '\t' '
function family(name) {
	sub(/\[.*/, "", name)
	return name
}
# The reason by the longest series whose words the family has, or by the table; empty: none.
function why(name, series, words, found, length_found, i) {
	for (series in needs) {
		words = series
		gsub(/_/, ".", words)
		if (index(name ".", "." words ".") && length(words) > length_found) {
			length_found = length(words)
			found = needs[series]
		}
	}
	for (i = 1; i <= patterns && found == ""; i++)
		if (name ~ pattern[i] && of[i] in needs)
			found = because[i] ": no " of[i] " (" needs[of[i]] ")"
	return found
}
# Whether a value with its interval is as close to that of the full build.
function close_to(name, is, from, to, wide, least, gap) {
	wide = high[name] - low[name]
	if (to - from > wide)
		wide = to - from
	least = 0.05 * (value[name] < 0 ? -value[name] : value[name])
	if (wide < least)
		wide = least
	gap = is < value[name] ? value[name] - is : is - value[name]
	return gap <= wide
}
function missing(count, what, name, reason) {
	reason = why(name)
	printf "%s %d of %s: %s\n", what, count, name, (reason == "" ? "NOT EXPLAINED" : reason)
	bad += reason == ""
}
$1 == "reason" {
	pattern[++patterns] = $2; of[patterns] = $3; because[patterns] = $4
}
$1 == "unavailable" {
	needs[$2] = $3
}
$9 != "hardware" || $2 !~ /^(gpu|link)\./ {
	next
}
$1 == "again" {
	again[$2] = $3; again_low[$2] = $5; again_high[$2] = $6
}
$1 == "full" {
	value[$2] = $3; low[$2] = $5; high[$2] = $6; order[++count] = $2
}
$1 == "limited" {
	seen[$2] = 1
	if (!($2 in value)) {
		more[family($2)]++
		next
	}
	compared++
	if (close_to($2, $3, $5, $6))
		next
	reason = why(family($2))
	if (reason == "" && $2 in again && close_to($2, again[$2], again_low[$2], again_high[$2]))
		reason = "as in the full build when measured again"
	if (reason == "") {
		bad++
		reason = $2 ~ /^link\.|copies/ ? "measure again: it depends on the host, too" : "NOT EXPLAINED"
	}
	printf "%-60s full %-14s limited %-14s %s: %s\n", $2, value[$2], $3, $10, reason
}
END {
	for (name in more)
		missing(more[name], "only in the limited build:", name)
	for (i = 1; i <= count; i++)
		if (!(order[i] in seen))
			lacks[family(order[i])]++
	for (name in lacks)
		missing(lacks[name], "lacks", name)
	printf "%d hardware parameters compared, %d to look at\n", compared, bad
	exit bad > 0
}'
