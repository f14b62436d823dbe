#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the figures and writes OUTPUT/report/report.html and papers.html (each one file, nothing from the network) and the same as
# text, report.txt and papers.txt; prints the first screen. Every number comes from the data files.
# Usage: sh plots/report.sh OUTPUT [report|papers]      MACHINE=name reads data/name instead of OUTPUT
# Exit 1 when no figure could be drawn (the text is written all the same) or there is no data at all.
# shellcheck disable=SC2317 # sections are called by name
set -u
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=plots/sources.sh
. "$scripts/sources.sh"

mkdir -p "$figures" || exit 1
status=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; rm -f "$report"/*.new' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

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
figure() { # name, legend, folder, file of its data
	! drawn "$1" || line FIG "$1" "$2" "$(link_to "$3" "$4")" "$4"
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

# ---- the first screen ----

title() {
	if [ -n "$gpu" ] && [ "$gpu" != "$own" ]; then
		line H1 '' "fathom report: this CPU, $(name_of "$own"); GPU answers from the recorded $(name_of "$gpu")"
	else
		line H1 '' "fathom report: $(name_of "$own")${MACHINE:+ (recorded machine $MACHINE, chosen by MACHINE)}"
	fi
	[ -z "$reason" ] || line NOTE "Data of $own: $reason."
	if [ -z "$gpu" ]; then
		line NOTE 'No GPU was measured and there is no recorded machine: questions on the GPU have no answer.'
	elif [ "$gpu" != "$own" ]; then
		line NOTE "No GPU was measured in $own: the recorded machine $gpu answers questions on the GPU, with the times of its own host."
	fi
}
# The numbers that first.awk reads, of the other recorded machines: whole ones, not parts of a GPU.
others_of() { # folder
	for file in "$data"/*/profile.tsv; do
		other=$(dirname "$file")
		if [ "$other" = "$1" ] || [ "$other" = "$output" ] || meta "$other" gpu | grep -q ' of [0-9]* SMs'; then
			continue
		fi
		mkdir -p "$work/others/$(basename "$other")"
		grep -E '^(#|parameter|gpu\.(launch\.dependent|barrier\.counter|dram\.copy|shared\.read|sm\.count|clock\.sm|gemm\.[sd]\.peak|w?g?mma\.bf16\.rate)|link\.h2d\.pinned\.beta|host\.(parallel|exchange\.latency|l[23]\.latency|memory\.copy\.peak|gemm\.[sd]\[))' \
			"$file" >"$work/others/$(basename "$other")/profile.tsv"
		echo "$work/others/$(basename "$other")"
	done
}
rules() { # folder, parts, its lean folder
	markup "$3" rules -v parts="$2" -v rules="$scripts/rules.tsv" -v nb="$([ "$2" != gpu ] || markup "$3" panel -v executor=cuda)"
	[ "$2" = gpu ] || return 0
	markup "$1" 'bench bounds' -v rule=yes
	markup "$1" 'bench travel' -v rule=yes
	markup "$1" lawn_products -v rule=yes
}
machine() { # folder, more options
	described=$1
	shift
	markup "$described" machine -v folder="$described" -v host="$(uname -n)" -v driver="$driver" -v now="$(date +%s)" \
		-v id="$(kind_of "$described")-facts" "$@"
}
# What a machine is, what to do on it, how far to trust it.
column() { # folder, gpu or host, its lean folder
	kind=$(kind_of "$1")
	line DIV 'part machine'
	line H2 "$kind-machine" "$([ "$kind" = own ] && echo 'The machine' || echo "The recorded $(name_of "$1")")"
	machine "$1" -v card=yes
	line ENDDIV
	line DIV 'part numbers'
	line H2 "$kind-numbers" 'Numbers that matter'
	markup "$3" first -v part=numbers -v kind="$2" -v others="$(others_of "$1")"
	line P 'A bar ends at what this machine reaches of the limit; marks are the recorded machines.'
	line ENDDIV
	rules "$1" "$2" "$3" >"$work/rules.$2"
	line DIV 'part do'
	line H2 "$kind-do" "What to do on $([ "$kind" = own ] && echo this || echo the recorded) machine"
	markup "$1" first -v part=rules -v rules="$work/rules.$2" -v list="$scripts/first_rules.tsv" -v most=10
	line LI "All $(grep -c '^LI' "$work/rules.$2") rules" '#rules' 'with the parameters behind them'
	line ENDDIV
	line DIV 'part trust'
	line H2 "$kind-trust" 'How far to trust it'
	markup "$1" first -v part=trust
	chain_of "$1"
	line ENDDIV
}
first() {
	title
	if [ -n "$gpu" ] && [ "$gpu" != "$own" ]; then
		line DIV two
		line DIV column
		column "$own" host "$lean_own"
		line ENDDIV
		line DIV column
		column "$gpu" gpu "$lean_gpu"
	else
		line DIV one
		line DIV column
		column "$own" "$([ -n "$gpu" ] && echo gpu || echo host)" "$lean_own"
	fi
	line ENDDIV
	line ENDDIV
}
# Whether predictions and measurements belong to the profile that is here.
chain_of() { # folder
	made=$(sed -n 's/^# profile_sha256: //p' "$1/predictions.tsv" 2>/dev/null | head -n 1)
	here=$(sha256sum "$1/profile.tsv" 2>/dev/null | cut -d' ' -f1)
	[ -z "$made" ] || [ "$made" = "$here" ] ||
		line NOTE "Stale: the predictions in $1 were made from another profile than the one here: run make validate."
}

# ---- chapters on hardware: a figure, sentences, and the probes' parameters and figures, folded ----

hardware() { # chapter, title, figure, legend, folder, file of its data
	line H2 "$1" "$2"
	[ -n "$5" ] || { line P 'Not measured here.' && return; }
	note_recorded Data "$5"
	awk -F '\t' -v chapter="$1" '$1 == chapter { text = text (text == "" ? "" : " ") $2 } END { if (text != "") print "P\t" text }' \
		"$work/reads.$(kind_of "$5")"
	figure "$3" "$4" "$5" "$6"
	[ "$1" != start ] || sed -n '/^TABLE	ladder/,/^END/p' "$work/rules.gpu" >"$work/ladder"
	[ "$1" != start ] || folded 'Table: launches, barriers and loads, and the traffic that fits into that time' "$work/ladder"
	for probe in $probes; do
		[ "$(about "$probe" Chapter)" = "$1" ] || continue
		line FOLD "$(about "$probe" Title): parameters$(! drawn "$probe" || [ "$probe" = "$3" ] || echo ' and figure')"
		if [ "$probe" != "$3" ] && [ -n "$(source_of "$probe")" ]; then
			figure "$probe" "$(about "$probe" Figure)" "$(source_of "$probe")" "$probe.tsv"
		fi
		awk -F '\t' -v probe="$probe" '$1 == "PROBE" { inside = $2 == probe; next } inside' "$work/parameters"
		line ENDDETAILS
	done
}
start() {
	hardware start 'How long does it take to start work?' start 'Times with their 95 % intervals, logarithmic.' "$gpu" launch.tsv
}
memory() {
	hardware memory 'How fast is memory?' memory 'Above, a load against the size of the set; dashed: sizes found. Below, a copy against its size; dotted: the largest.' "$gpu" pointer_chase.tsv
	drawn memory_system || return 0
	line FOLD 'Figure: the memory system (the counterpart of Figure 2 of LAPACK Working Note 202)'
	figure memory_system 'The areas of the on-chip memories have one scale; DRAM does not. Sizes that the probes did not resolve are left out.' "$gpu" profile.tsv
	line ENDDETAILS
}
inside() {
	hardware inside 'What costs time inside a kernel?' inside 'Times with their 95 % intervals, logarithmic.' "$gpu" barrier.tsv
}
links() {
	hardware links 'What do transfers cost?' transfer "$(about transfer Figure)" "$gpu" transfer.tsv
}
instructions() {
	hardware instructions 'How fast are instructions and tensor cores?' instructions 'Rates of the whole device, and of the largest products by the library.' "$gpu" instruction.tsv
}
host() {
	hardware host 'What does the host cost?' host 'Times with their 95 % intervals, logarithmic.' "$own" host_parallel.tsv
}

# ---- chapters on factorizations ----

panel() {
	line H2 panel 'How fast is a panel?'
	line P 'The counterpart of Figure 3 of LAPACK Working Note 202 for this machine. Rates use the operation count of LAPACK Working Note 41.'
	legend='Points: measured. Dashed: predicted before the run from the profile alone, with its interval as a band.'
	note_recorded 'The figure on the GPU is' "$gpu"
	[ -z "$gpu" ] || grep '^LI	CPU panel, as measured' "$work/rules.gpu" 2>/dev/null
	figure panel_cuda "$legend Grey: eq. (2) of LAWN 202, calls x start-up + traffic / gpu.copy.beta; with dashes start-up is a launch, dotted a barrier over the grid." "$gpu" measurements.tsv
	markup "$lean_gpu" panel -v executor=cuda -v table=yes >"$work/panel.cuda"
	folded 'Table: panels on the GPU' "$work/panel.cuda"
	{
		figure panel_host "$legend" "$own" measurements.tsv
		markup "$lean_own" panel -v executor=host -v table=yes
	} >"$work/panel.host"
	folded 'Panels on the host' "$work/panel.host"
}
factor() {
	{
		markup "$gpu" 'bench vendor' -v table=yes
		markup "$gpu" 'bench bounds'
		markup "$gpu" 'bench travel'
	} >"$work/factor.tables"
	drawn factor_s || drawn factor_d || [ -s "$work/factor.tables" ] || return 0
	line H2 factor 'How close do factorizations come to the ceiling, and to the vendor?'
	note_recorded Data "$gpu"
	markup "$gpu" 'bench vendor' -v short=yes
	legend="Lines: make bench, the fastest of several block widths and algorithms. Dashed and +: the model's plan at held-out sizes, predicted and measured. Dotted: the bound, and products and solves alone."
	figure factor_s "$legend" "$gpu" bench.tsv
	{
		figure factor_d "$legend" "$gpu" bench.tsv
		figure vendor 'Medians of whole calls, interleaved in one process (make bench).' "$gpu" bench.tsv
		cat "$work/factor.tables"
	} >"$work/factor.more"
	folded 'Double precision, speedup over cuSOLVER, limits, matrices in host memory' "$work/factor.more"
}
trace() {
	here=$(sha256sum "$gpu/profile.tsv" 2>/dev/null | cut -d' ' -f1)
	for file in "$gpu"/trace_*.tsv; do
		id=$(basename "$file" .tsv)
		if [ ! -f "$file" ] || ! markup "$gpu" trace -v file="$file" -v table="$id" >"$work/trace" 2>/dev/null ||
			[ ! -s "$work/trace" ]; then
			continue
		fi
		[ "${traced-}" ] || line H2 trace 'Where does the time of a factorization go?'
		traced=yes
		line H3 "$id" "$(sed -n -e '/^#/!q' -e 's/^# title: simulated //p' "$file")"
		note_recorded 'The timelines are' "$gpu"
		[ "$(sed -n 's/^# profile_sha256: //p' "$file" | head -n 1)" = "$here" ] ||
			line NOTE "Simulated from another profile than the one in $gpu: fathom trace --tsv records it again."
		awk -F '\t' '$1 == "ROW" && $3 == "update" { print "P\tUpdates are " $6 " % of the simulated time on the critical path and " $7 " % of the measured one." ; exit }' "$work/trace"
		figure "$id" 'Simulated above measured. Every operation: where and when it ran. Above, the whole run; below, steps from its middle, of each timeline from their own begin. Operations shorter than 1/2000 of a view are left out.' "$gpu" "$id.tsv"
		folded 'Table: phases, and operations with the largest errors' "$work/trace"
	done
}
update() {
	markup "$gpu" update -v table=yes >"$work/update.table"
	[ -s "$work/update.table" ] || return 0
	line H2 update 'Update or refactor?'
	note_recorded Data "$gpu"
	line P 'Rows or columns of A are added or removed after its QR factorization: update the factors, or factorize again?'
	grep '^P	Before the runs' "$work/update.table"
	figure update "Speedup of updating over factorizing again: with our routines (colour, first number), and with cuSOLVER's geqrf, ormqr and trsm, which form no Q (second number). Orange: updating is slower. Black line: predicted break-even." "$gpu" update.tsv
	folded 'Table: decisions and ratios' "$work/update.table"
}
gram() {
	markup "$gpu" gram_schmidt -v table=yes >"$work/gram.table"
	[ -s "$work/gram.table" ] || return 0
	line H2 gram 'Gram-Schmidt: GPU or CPU?'
	note_recorded Data "$gpu"
	grep '^P	.* times as fast as the CPU' "$work/gram.table"
	figure gram "Rates of all columns of n x n by their 2mn^2 operations. The paper's kernel: shared. Kernels and tables of the paper: papers.html." "$gpu" bench.tsv
	folded 'Table: kernels, passes, GPU against CPU' "$work/gram.table"
}
model() {
	line H2 accuracy 'How well does the model predict?'
	folders | while read -r folder; do
		[ "$folder" = "$own" ] || line H3 recorded-accuracy "The recorded machine $folder"
		markup "$folder" accuracy -v id="$(kind_of "$folder")-" -v most=20 >"$work/model"
		sed -n 's/^\(P	Of .* 10 %\).*/\1./p' "$work/model"
		if [ "$folder" = "$gpu" ]; then
			figure errors 'Above, the share of cases with at most an error, by regime. Below, each case; circles: off by more than 10 %.' "$folder" errors.tsv
		else
			figure errors_host 'Above, the share of cases with at most an error, by regime. Below, each case; circles: off by more than 10 %.' "$folder" errors.tsv
		fi
		markup "$folder" accuracy -v short=yes >>"$work/model"
		folded 'Table: worst cases first, then families, levels of the model, phases' "$work/model"
	done
}
papers() {
	line H2 papers 'How does this machine compare with the papers?'
	line P 'Counterparts of the figures and tables of four papers stand in a page of their own.'
	markup "$gpu" papers_summary
	line LI 'Their figures and tables for this machine:' papers.html papers.html
}
design_rules() {
	line H2 rules 'All design rules'
	if [ -n "$gpu" ]; then
		note_recorded 'The rules on the GPU are' "$gpu"
		grep '^LI' "$work/rules.gpu" >"$work/rules.list"
		folded 'Rules on the GPU' "$work/rules.list"
	else
		line P 'For the GPU: not measured here.'
	fi
	[ -s "$work/rules.host" ] || rules "$own" host "$lean_own" >"$work/rules.host"
	grep '^LI' "$work/rules.host" >"$work/rules.list"
	folded 'Rules on the host' "$work/rules.list"
}
method() {
	line H2 method 'How was this measured?'
	while read -r text; do
		line LI "$text"
	done <<-TEXT
		Every probe runs in several fresh processes. A value is the median over processes; its interval spans them (95 %).
		A sample is discarded, and counted below, when its clocks disagree, when the GPU was throttled, or when another program used its core. Points measured beside another user are busy.
		Noisy: a half-width over 20 % or a busy device. Bounded: only a limit is known. Failed: outside physical limits.
		Predictions use the profile alone and are written before the runs. Checksums chain profile, predictions and measurements.
		Copies count bytes read plus bytes written; transfers count payload. GB is 10^9 bytes; KiB, MiB, GiB are powers of two.
		Vendor libraries (cuSOLVER) are a reference, never an ingredient.
	TEXT
	folders | while read -r folder; do
		[ "$folder" = "$own" ] || line H3 recorded-method "The recorded machine $folder"
		machine "$folder"
		line PARAMETERS "$(kind_of "$folder")" "$folder/profile.tsv"
		set --
		for probe in $probes; do
			[ ! -s "$folder/$probe.tsv" ] || set -- "$@" "$folder/$probe.tsv"
		done
		[ $# -eq 0 ] || awk -v id="$(kind_of "$folder")" -f "$scripts/common.awk" -f "$scripts/method.awk" "$@" >"$work/method"
		[ $# -eq 0 ] || folded 'Table: curves, their processes and samples' "$work/method"
	done
}

# ---- papers.html ----

# A paper's part: only with tables or a figure.
paper() { # id, title, text, figures; tables in $work/ID
	if [ ! -s "$work/$1" ]; then
		for name in $4 none; do
			! drawn "$name" || break
		done
		[ "$name" != none ] || return 1
	fi
	line H2 "$1" "$2"
	[ -z "$3" ] || line P "$3"
	note_recorded Data "$gpu"
}
lawn_paper() {
	markup "$gpu" 'bench lawn' >"$work/lawn"
	markup "$gpu" lawn_products -v table=yes >>"$work/lawn"
	paper lawn 'LAPACK Working Note 202 beside this machine' '' breakdown || return 0
	cat "$work/lawn"
	figure small_gemm 'The counterpart of Figure 5. Two stages: the fastest of 2, 4, 8 and 16 parts of k.' "$gpu" bench.tsv
	figure thin_gemm 'The counterpart of Figure 6. The host: square products only, from the probe of its rates.' "$gpu" bench.tsv
	figure breakdown 'The counterpart of Figures 10 and 11. Shares: each moment counts for one of the operations that run. Hidden: panels and transfers that run beside other work. Slowdowns are measured.' "$gpu" breakdown.tsv
}
kerr_paper() {
	[ -s "$gpu/kerr.tsv" ] || return 0
	markup "$gpu" kerr -v table=yes >"$work/kerr"
	[ -s "$work/kerr" ] && paper kerr 'QR with the whole Q, as Kerr measured it' \
		'The counterpart of Tables 1 and 2 and Figures 2 to 6 of Kerr, Campbell and Richards (2009) for this machine. Rates use the operations of their Table 1; our algorithm needs fewer.' kerr || return 0
	figure kerr "Dashed: predicted. The paper's points: the runs of its Table 2, and its best rate of gemv." "$gpu" kerr.tsv
	cat "$work/kerr"
}
update_paper() {
	markup "$gpu" update_paper >"$work/update-paper"
	[ -s "$work/update-paper" ] && paper update-paper "Andrew and Dingle's stages" 'Their Tables 1 and 2 for this machine: reflectors column by column with norms computed through the host, T by gemv, Givens rotations with one kernel for each wavefront. On their Tesla M2050 blocks of 50 to 100 columns were fastest. The counterpart of their Figures 6 to 14: report.html, Update or refactor.' '' || return 0
	cat "$work/update-paper"
}
gram_paper() {
	if paper gram 'Gram-Schmidt: GPU against CPU' 'The counterpart of Figures 6 to 10 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Rates use their 2mn^2 operations; passes count the bytes that have to move. Tables: report.html, Gram-Schmidt.' gram_schmidt; then
		figure gram_schmidt "Dashed: predicted. direct, shared and wide are the paper's kernels; kernels and fused are our own passes; blocked holds columns in registers; block and twice apply blocks by products." "$gpu" bench.tsv
	fi
	[ -s "$own/gram_host.tsv" ] || return 0
	line H2 gram-host 'Gram-Schmidt on the host'
	line P 'The counterpart of Table 1 and Figures 2 and 4 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Of a matrix larger than the last cache some columns are computed; rates count the operations of these columns.'
	figure gram_host 'Dashed: predicted before the run.' "$own" gram_host.tsv
	markup "$own" gram_host -v table=yes
}
papers_title() {
	line H1 '' "fathom and the papers: $(name_of "${gpu:-$own}")"
	line LI 'This machine itself:' report.html report.html
	for file in "$gpu/bench.tsv" "$gpu/kerr.tsv" "$gpu/update_paper.tsv" "$own/gram_host.tsv"; do
		[ ! -s "$file" ] || return 0
	done
	line P 'The papers were not measured on this machine: make bench does it.'
}

# ---- pages ----

# A link to each section.
navigation() { # markup
	awk -F '\t' '$1 == "H2" && $2 !~ /^(own|recorded)-/ { sub(/:.*/, "", $3); printf "%s\t%s\t%s", (n++ ? "" : "NAV"), $2, $3 }' "$1"
	echo
}
page() { # name, sections in their order, of which the first is done before the others begin
	kept=$1 sections=$2
	mkdir "$work/$kept"
	write_section "${sections%% *}"
	# shellcheck disable=SC2086 # names are words
	share_out "$work/$kept" write_section ${sections#* }
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
		printf '<footer>Written %s from %s.</footer>\n<script>\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(folders | paste -s -d ' ' -)"
		cat "$scripts/report.js"
		printf '</script>\n</body>\n</html>\n'
	} >"$report/$kept.html.new" || exit 1
	mv "$report/$kept.html.new" "$report/$kept.html"
}
write_section() { "$1" >"$work/$kept/$1"; }

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
	# shellcheck disable=SC2086 # names are words
	sh "$scripts/plots.sh" "$output" $figures_of_report $shown >/dev/null || status=1
	awk -v own="$own" -v list="$work/probes" -f "$scripts/common.awk" -f "$scripts/parameters.awk" >"$work/parameters"
	folders | while read -r folder; do
		if [ "$folder" = "$own" ]; then markup "$lean_own" reads; else markup "$lean_gpu" reads; fi >"$work/reads.$(kind_of "$folder")"
	done
	page report 'first start memory inside links instructions host panel factor trace update gram model papers design_rules method'
fi
if [ "${2-papers}" = papers ]; then
	# shellcheck disable=SC2086 # names are words
	sh "$scripts/plots.sh" "$output" $figures_of_papers >/dev/null 2>"$work/said" || grep -v 'no figure could be drawn' "$work/said" >&2
	page papers 'papers_title lawn_paper kerr_paper update_paper gram_paper'
fi

[ ! -s "$report/report.txt" ] || sed '/^How long does it take to start work?$/,$d' "$report/report.txt"
for kept in papers report; do
	[ ! -s "$report/$kept.html" ] || echo "$report/$kept.html"
done
exit $status
