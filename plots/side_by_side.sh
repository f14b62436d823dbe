# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced by report.sh, which calls sections by name
# Two machines side by side: the page side_by_side.html. Each has a card and numbers of its own.

first_name=$(basename "$own")
second_name=$(basename "$second")
overlay="$first_name blue, $second_name orange."
folders() {
	echo "$own"
	echo "$second"
}
# Every operation and parameter of both, as compare has them.
compare_both() {
	program=${FATHOM_BIN:-$home/build/bin}/compare
	if [ ! -x "$program" ]; then
		echo "report: two machines side by side need the program compare, which is not in ${program%/*}: run make" >&2
		exit 1
	fi
	"$program" --json "$own" "$second" >"$work/both.json" 2>/dev/null
	awk '
	BEGIN { OFS = "\t" }
	sub(/^[ \t]*[{]"what": /, "\"what\": ") {
		sub(/[}],?$/, "")
		n = split($0, field, /, "/)
		head = line = ""
		for (i = 1; i <= n; i++) {
			at = index(field[i], "\": ")
			name = substr(field[i], 1, at - 1)
			text = substr(field[i], at + 3)
			gsub(/"/, "", name)
			gsub(/"/, "", text)
			head = head (i > 1 ? OFS : "") name
			line = line (i > 1 ? OFS : "") (text == "null" ? "nan" : text)
		}
		if (!rows++)
			print head
		print line
	}' "$work/both.json" >"$report/side_by_side.tsv"
	[ -s "$report/side_by_side.tsv" ] || { echo "report: compare has nothing to say of $own and $second" >&2 && exit 1; }
}
of_both() { # part
	markup "$own" side_by_side -v file="$report/side_by_side.tsv" -v part="$1" -v first="$first_name" -v second="$second_name"
}
both_title() {
	line H1 '' "$first_name and $second_name side by side"
	line DIV two
	for each in own recorded; do
		[ $each = own ] && shown=$own || shown=$second
		line DIV column
		line DIV 'part machine'
		line H2 "$each-machine" "$(basename "$shown"): $(name_of "$shown")"
		markup "$shown" machine -v folder="$shown" -v host="$(uname -n)" -v now="$(date +%s)" -v id="$each-facts" -v card=yes
		line ENDDIV
		line DIV 'part numbers'
		markup "$shown" first -v part=numbers -v kind="$(has_gpu "$shown" && echo gpu || echo host)" -v others=
		line ENDDIV
		line ENDDIV
	done
	line ENDDIV
}
both_operations() {
	line H2 both-operations 'What does each operation take?'
	of_both operations >"$work/operations"
	grep '^P' "$work/operations"
	figure both_operations 'Speed with the interval of the parameters; green: faster, orange: slower, grey: the same, or not told apart.' "$report" side_by_side.tsv
	grep '^LI' "$work/operations"
	sed -n '/^TABLE/,$p' "$work/operations" >"$work/table"
	folded 'Table: every operation, and what limits it' "$work/table"
}
both_figure() { # id, title, legend, figure...
	id=$1 title=$2 legend=$3
	shift 3
	for name; do
		! drawn "$name" || break
	done
	drawn "$name" || return 0
	line H2 "$id" "$title"
	for name; do
		! drawn "$name" || line FIG "$name" "$overlay $legend"
	done
}
both_start() { both_figure both-start 'How long does it take to start work?' 'Times with their 95 % intervals.' both_start; }
both_memory() { both_figure both-memory 'How fast is memory?' 'Copies count bytes read and written.' both_memory; }
both_inside() { both_figure both-inside 'What costs time inside a kernel?' 'Times with their 95 % intervals.' both_inside; }
both_links() { both_figure both-links 'What do transfers cost?' 'Payload over time from the call to completion.' both_links; }
both_instructions() { both_figure both-instructions 'How fast are instructions and tensor cores?' 'Rates of the whole device.' both_instructions; }
both_host() { both_figure both-host 'What does the host cost?' 'Times with their 95 % intervals.' both_host; }
both_panel() { both_figure both-panel 'How fast is a panel?' 'Measured, single precision.' both_panel; }
both_factor() {
	both_figure both-factor 'How fast are factorizations?' 'Measured, panels on the GPU; single precision without tensor cores.' both_factor_s both_factor_d
}
both_parameters() {
	line H2 both-parameters 'Which parameters differ?'
	markup "$own" lawn_machines -v folders="$own|$second"
	of_both parameters >"$work/table"
	folded 'Table: single parameters of the hardware' "$work/table"
	line LI 'Every parameter of both, ratio, interval and verdict:' side_by_side.tsv side_by_side.tsv
}
side_by_side() {
	compare_both
	# shellcheck disable=SC2086 # names are words
	sh "$scripts/plots.sh" "$output" $figures_of_both >/dev/null || status=1
	page side_by_side 'both_title both_operations both_start both_memory both_inside both_links both_instructions both_host both_panel both_factor both_parameters'
	sed '/^How long does it take to start work?$/,$d' "$report/side_by_side.txt"
	echo "$report/side_by_side.html"
}
