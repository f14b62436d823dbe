#!/bin/sh
# SPDX-License-Identifier: MIT
# data/papers/coverage.tsv: every figure and table of the four papers has a row, rows are complete, each command is one that fathom's
# programs know, and docs/papers.md is made of these rows. recorded_pages.t finds the anchors in the pages.
. "$(dirname "$0")/../tap.sh"
needs advise compare machine measure predict rules
make_scratch
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
FATHOM_BIN=$bin FATHOM_HOME=$root
export FATHOM_BIN FATHOM_HOME
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA
coverage=$root/data/papers/coverage.tsv

none() { # WHAT: a result, ok without a line in $scratch/lines
	[ ! -s "$scratch/lines" ]
	result $? "$1"
	sed 's/^/# /' "$scratch/lines" | head -n 10 >&2
}
rows() { sed -e '/^#/d' -e '/^paper	/d' "$coverage"; }

rows | awk -F '\t' 'NF != 9 || $2 !~ /^(figure|table|experiment|system|claim)$/ || $7 !~ /^(done|partial|missing|not planned)$/ ||
	seen[$1, $3]++ { print $1, $3 }' >"$scratch/lines"
none 'rows have nine columns, a known kind and status, and stand once'
rows | awk -F '\t' '($7 != "done" && $9 == "-") || ($7 ~ /^(partial|missing)$/) != ($8 ~ /^(code|gpu|code,gpu|hardware|gpu,hardware|compiler)$/) {
	print $1, $3 }' >"$scratch/lines"
none 'what is not done has a reason, and says what it needs'
rows | awk -F '\t' '$7 ~ /^(done|partial)$/ && ($5 == "-" || $6 == "-") { print $1, $3 }' >"$scratch/lines"
none 'what is done, at least in part, has a command and a place'
for numbered in 'volkov2008 11 3' 'kerr2009 6 2' 'brandes2012 10 2' 'andrew2014 14 5'; do
	echo "$numbered" | {
		read -r paper figures tables
		{ seq -f 'figure	Figure %g' "$figures" && seq -f 'table	Table %g' "$tables"; } | sort >"$scratch/want"
		rows | awk -F '\t' -v paper="$paper" '$1 == paper && $2 ~ /^(figure|table)$/ { print $2 "\t" $3 }' | sort | comm -3 - "$scratch/want"
	}
done >"$scratch/lines"
none 'each figure and table of each paper has its row'

sh "$root/scripts/papers_page.sh" "$coverage" >"$scratch/papers.md"
diff "$scratch/papers.md" "$root/docs/papers.md" >"$scratch/lines"
none 'docs/papers.md is current (make docs)'

rows | cut -f 6 | grep -v '[.]html#\|^-$' | sort -u | while IFS='#' read -r file heading; do
	sed -n 's/^##* *//p' "$root/$file" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qx -e "$heading" || echo "$file#$heading"
done >"$scratch/lines"
none 'places in the repository are headings of its files'

# Programs that only read recorded data run. Of others, which measure for minutes or need a GPU, the options are parsed, and --only names
# what --help lists. A probe of the GPU that was not built has its folder.
rows | cut -f 5 | sort -u | grep -v '^-$' >"$scratch/commands"
while read -r command; do
	name=${command#fathom } options=
	case $name in *' '*) options=${name#* } name=${name%% *} ;; esac
	case $name in
	advise | rules)
		# shellcheck disable=SC2086 # words
		expect 0 . "$command" "$bin/$name" $options
		;;
	*)
		if [ -x "$bin/$name" ]; then
			# shellcheck disable=SC2086 # words
			"$bin/$name" $options --help >"$scratch/help" 2>&1
			status=$?
			only=$(echo "$options" | sed -n 's/.*--only \([a-z_]*\).*/\1/p')
			[ $status -eq 0 ] && tr -cs 'a-z_' '\n' <"$scratch/help" | grep -qx -e "${only:-fathom}"
			result $? "$command: known options"
		else
			[ -d "$root/probes/$name" ] || [ -d "$root/factor/calibration/$name" ]
			result $? "$command: a probe that is not built here"
		fi
		;;
	esac
done <"$scratch/commands"
echo "1..$number"
