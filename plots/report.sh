#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the figures and writes OUTPUT/report/report.html and papers.html (each one file, nothing from the network) and the same as
# text, report.txt and papers.txt; prints the first screen. Every number comes from the data files.
# Usage: sh plots/report.sh OUTPUT [report|papers]      MACHINE=name reads data/name instead of OUTPUT
# MACHINES="name name" writes side_by_side.html alone, of two recorded machines; it needs the program compare.
# Exit 1 when no figure could be drawn (the text is written all the same) or there is no data at all.
# shellcheck disable=SC2317 # sections are called by name
set -u
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=plots/sources.sh
. "$scripts/sources.sh"

if ! mkdir -p "$figures" 2>/dev/null || [ ! -w "$report" ]; then
	echo "report: cannot write into the folder $report: --output names another folder" >&2
	exit 1
fi
status=0
work=
trap 'rm -rf "$work"; rm -f "$report"/*.new' EXIT
work=$(mktemp -d) || exit 1

# A line of markup (common.awk): its tag and its fields.
line() {
	printf '%s' "$1"
	shift
	[ $# -eq 0 ] || printf '\t%s' "$@"
	echo
}
# The output of awk programs for a folder's data; nothing without the folder.
markup() { # folder, programs, awk options...
	[ -n "$1" ] || return 0
	from=$1 programs=$2
	shift 2
	set -- -v data="$from" -v papers="$data/papers" "$@" -f "$scripts/common.awk"
	for program in $programs; do
		set -- "$@" -f "$scripts/$program.awk"
	done
	awk "$@"
}
drawn() { [ -s "$figures/$1.svg" ]; }
# A file of a folder as a link from the page.
link_to() { # folder, file
	if [ "$1" = "$output" ]; then
		echo "../$2"
	else
		echo "$(realpath --relative-to="$report" "$1" 2>/dev/null || (cd "$1" && pwd))/$2"
	fi
}
figure() { # name, legend, folder, files of its data: the profile where none is recorded
	drawn "$1" || return 0
	links=
	for source in $4; do
		[ ! -e "$3/$source" ] || links="$links	$(link_to "$3" "$source")	$source"
	done
	line FIG "$1" "$2${links:-	$(link_to "$3" profile.tsv)	profile.tsv}"
}
folders() { # own, and gpu where it is another
	echo "$own"
	[ -z "$gpu" ] || [ "$gpu" = "$own" ] || echo "$gpu"
}
kind_of() {
	if [ "$1" = "$own" ]; then echo own; else echo recorded; fi
}
note_recorded() { # subject, folder
	[ "$2" = "$own" ] || [ -z "$2" ] || line NOTE "$1 of the recorded machine $2."
}
meta() { # folder, key
	sed -n -e '/^#/!q' -e "s/^# $2: //p" "$1/profile.tsv" 2>/dev/null | grep -v '^none$' | tail -n 1
}
name_of() { # folder: its GPU's name, else its processor's
	found=$(meta "$1" gpu)
	[ -n "$found" ] || found=$(meta "$1" cpu)
	echo "${found:-a machine without a profile}"
}
# What a file holds, folded; nothing when it is empty.
folded() { # summary, file
	[ -s "$2" ] || return 0
	line FOLD "$1"
	cat "$2"
	line ENDDETAILS
}

# What the sections share: parameters, sentences, rules.
prepare() {
	trap 'exit 143' TERM # behind what it runs, which writes into $work
	awk -v own="$own" -v list="$work/probes" -f "$scripts/common.awk" -f "$scripts/parameters.awk" >"$work/parameters"
	folders | while read -r folder; do
		if [ "$folder" = "$own" ]; then markup "$lean_own" reads; else markup "$lean_gpu" reads; fi >"$work/reads.$(kind_of "$folder")"
	done
	[ -z "$gpu" ] || sh "$scripts/rules.sh" "$lean_gpu" gpu both "$work/rules.gpu.tsv" >"$work/rules.gpu"
	sh "$scripts/rules.sh" "$lean_own" host both "$work/rules.host.tsv" >"$work/rules.host"
}

# shellcheck source=plots/first.sh
. "$scripts/first.sh"
# shellcheck source=plots/chapters.sh
. "$scripts/chapters.sh"
# shellcheck source=plots/papers.sh
. "$scripts/papers.sh"

# ---- pages ----

# A link to each section.
navigation() { # markup
	awk -F '\t' '$1 == "H2" && $2 !~ /^(own|recorded)-/ { sub(/:.*/, "", $3); printf "%s\t%s\t%s", (n++ ? "" : "NAV"), $2, $3 }' "$1"
	echo
}
page() { # name, sections in their order
	kept=$1 sections=$2
	mkdir "$work/$kept"
	# shellcheck disable=SC2086 # names are words
	share_out "$work/$kept" write_section $sections
	for section in $sections; do
		cat "$work/$kept/$section"
	done >"$work/markup"
	awk -f "$scripts/text.awk" "$work/markup" >"$report/$kept.txt.new" && mv "$report/$kept.txt.new" "$report/$kept.txt" || exit 1
	{
		cat <<-HTML
			<!DOCTYPE html>
			<html lang="en">
			<head>
			<meta charset="utf-8">
			<meta name="viewport" content="width=device-width, initial-scale=1">
			<title>$(sed -n '1s/.*	//p' "$work/markup" | sed 's/&/\&amp;/g; s/</\&lt;/g')</title>
			<style>
		HTML
		cat "$scripts/report.css"
		printf '</style>\n</head>\n<body>\n'
		{
			cat "$work/$kept/${sections%% *}"
			navigation "$work/markup"
			for section in ${sections#* }; do
				cat "$work/$kept/$section"
			done
		} | awk -v figures="$figures" -f "$scripts/html.awk"
		printf '<footer>Written %s from %s.</footer>\n<script>\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(folders | paste -s -d ' ' - | sed 's/&/\&amp;/g; s/</\&lt;/g')"
		cat "$scripts/report.js"
		printf '</script>\n</body>\n</html>\n'
	} >"$report/$kept.html.new" || exit 1
	mv "$report/$kept.html.new" "$report/$kept.html"
}
write_section() { "$1" >"$work/$kept/$1"; }

if [ -n "$second" ]; then
	# shellcheck source=plots/side_by_side.sh
	. "$scripts/side_by_side.sh"
	side_by_side
	exit $status
fi
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
for probe in $probes; do
	line "$probe" "$(source_of "$probe")" "$(about "$probe" Question)" "$(about "$probe" Parameters)"
done >"$work/probes"
lean_own_and_gpu "$work/lean"
if [ "${2-report}" = report ]; then
	shown=
	for probe in $probes; do
		[ -z "$(about "$probe" Chapter)" ] || shown="$shown $probe"
	done
	prepare &
	attended=$!
	# shellcheck disable=SC2086 # names are words
	attend sh "$scripts/plots.sh" "$output" $figures_of_report $shown >/dev/null || status=1
	wait "$attended"
	attended='' ended=$!
	page report 'first start memory inside links instructions host panel factor trace update gram model papers design_rules method'
fi
if [ "${2-papers}" = papers ]; then
	# shellcheck disable=SC2086 # names are words
	attend sh "$scripts/plots.sh" "$output" $figures_of_papers >/dev/null 2>"$work/said" || grep -v 'no figure could be drawn' "$work/said" >&2
	page papers 'papers_title open_questions lawn_paper kerr_paper update_paper gram_paper'
fi

[ ! -s "$report/report.txt" ] || sed '/^How long does it take to start work?$/,$d' "$report/report.txt"
for kept in papers report; do
	[ ! -s "$report/$kept.html" ] || echo "$report/$kept.html"
done
exit $status
