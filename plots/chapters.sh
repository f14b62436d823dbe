# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2317 # sourced by report.sh, which calls sections by name
# The report's chapters, as markup: a function for each.

# ---- chapters on hardware: a figure, sentences, and the probes' parameters and figures, folded ----

hardware() { # chapter, title, figure, legend, folder, files of its data
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
	hardware start 'How long does it take to start work?' start 'Times with their 95 % intervals, logarithmic.' "$gpu" profile.tsv
}
memory() {
	legend=
	[ ! -s "$gpu/pointer_chase.tsv" ] || legend='A load against the size of the set; dashed: sizes found.'
	[ ! -s "$gpu/copy.tsv" ] || legend="${legend:+$legend }A copy against its size; dotted: the largest rate."
	hardware memory 'How fast is memory?' memory "$legend" "$gpu" 'pointer_chase.tsv copy.tsv'
	drawn memory_system || return 0
	line FOLD 'Figure: the memory system (the counterpart of Figure 2 of LAPACK Working Note 202)'
	figure memory_system 'The areas of the on-chip memories have one scale; DRAM does not. Sizes that the probes did not resolve are left out.' "$gpu" profile.tsv
	line ENDDETAILS
}
inside() {
	hardware inside 'What costs time inside a kernel?' inside 'Times with their 95 % intervals, logarithmic.' "$gpu" profile.tsv
}
links() {
	hardware links 'What do transfers cost?' transfer "$(about transfer Figure)" "$gpu" transfer.tsv
}
instructions() {
	hardware instructions 'How fast are instructions and tensor cores?' instructions 'Rates of the whole device, and of the largest products by the library.' "$gpu" profile.tsv
}
host() {
	hardware host 'What does the host cost?' host 'Times with their 95 % intervals, logarithmic.' "$own" profile.tsv
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
		markup "$lean_gpu" 'bench vendor' -v table=yes
		markup "$lean_gpu" 'bench bounds'
		markup "$lean_gpu" 'bench travel'
	} >"$work/factor.tables"
	drawn factor_s || drawn factor_d || [ -s "$work/factor.tables" ] || return 0
	line H2 factor 'How close do factorizations come to the ceiling, and to the vendor?'
	note_recorded Data "$gpu"
	markup "$lean_gpu" 'bench vendor' -v short=yes
	legend="Dashed and +: the model's plan at held-out sizes, predicted and measured. Dotted: the bound, and products and solves alone; x: these in recorded runs."
	[ ! -s "$gpu/bench.tsv" ] || legend="Lines: whole calls, the fastest of several block widths and algorithms. $legend"
	drawn_from='bench.tsv errors.tsv breakdown.tsv profile.tsv'
	figure factor_s "$legend" "$gpu" "$drawn_from"
	{
		figure factor_d "$legend" "$gpu" "$drawn_from"
		figure vendor 'Medians of whole calls, interleaved in one process (fathom measure --bench).' "$gpu" bench.tsv
		cat "$work/factor.tables"
	} >"$work/factor.more"
	folded 'Double precision, speedup over cuSOLVER, limits, matrices in host memory' "$work/factor.more"
	! drawn scaling || line H3 scaling 'Several GPUs'
	legend='Lines: predicted, eight GPUs in a host, sizes from half of the largest on.'
	[ ! -s "$gpu/several_gpus.tsv" ] || legend='Points: measured. Lines: predicted, eight GPUs in a host; sizes that were not measured only from half of the largest on.'
	figure scaling "$legend Links and networks that were not measured are assumed: fathom predict getrf --gpus names them." "$gpu" 'scaling.tsv several_gpus.tsv'
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
	figure update "Speedup of updating over factorizing again: with our routines (colour, first number), and with cuSOLVER's geqrf, ormqr and trsm, which form no Q (second number). Orange: updating is slower. Grey line: predicted break-even." "$gpu" update.tsv
	folded 'Table: decisions and ratios' "$work/update.table"
}
gram() {
	markup "$lean_gpu" gram_schmidt -v table=yes >"$work/gram.table"
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
			figure errors 'Above, the share of cases with at most an error, by regime. Below, each case; circles: off by more than 10 %; triangles: off by more than the axis shows.' "$folder" errors.tsv
		else
			figure errors_host 'Above, the share of cases with at most an error, by regime. Below, each case; circles: off by more than 10 %; triangles: off by more than the axis shows.' "$folder" errors.tsv
		fi
		markup "$folder" accuracy -v short=yes >>"$work/model"
		folded 'Table: worst cases first, then families, levels of the model, phases' "$work/model"
	done
}
papers() {
	line H2 papers 'How does this machine compare with the papers?'
	note_recorded Data "$gpu"
	line P 'Counterparts of the figures and tables of four papers stand in a page of their own.'
	markup "$lean_gpu" papers_summary
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
	grep '^LI' "$work/rules.host" >"$work/rules.list"
	folded 'Rules on the host' "$work/rules.list"
}
method() {
	line H2 method 'How was this measured?'
	while read -r text; do
		line LI "$text"
	done <<-TEXT
		Every probe runs in several fresh processes. A value is the median over processes, of starts of kernels the midrange; its interval spans them (95 %).
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
