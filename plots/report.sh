#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws the figures, then writes OUTPUT/report/report.html (one file, nothing from the network) and
# report.txt, and prints the text. Every number comes from the data files.
# Usage: sh plots/report.sh OUTPUT      MACHINE=name reads data/name instead of OUTPUT
# Exit 1 when no figure could be drawn (the text is written all the same) or there is no data at all.
set -u
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=plots/sources.sh
. "$scripts/sources.sh"

figures=$report/figures
mkdir -p "$figures" || exit 1
rm -f "$figures"/*.svg
status=0
sh "$scripts/plots.sh" "$output" >/dev/null || status=1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; rm -f "$report"/*.new' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A line of markup (common.awk): its tag and its fields.
line() {
	printf '%s' "$1"
	shift
	printf '\t%s' "$@"
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
figure() { # name, legend
	! drawn "$1" || line FIG "$1" "$2"
}
folders() { # own, and gpu where it is another
	echo "$own"
	[ -z "$gpu" ] || [ "$gpu" = "$own" ] || echo "$gpu"
}
kind_of() {
	if [ "$1" = "$own" ]; then echo own; else echo recorded; fi
}
note_recorded() { # subject, folder
	[ "$2" = "$own" ] || line NOTE "$1 of the recorded machine $2."
}
# A section on the GPU: only with tables (in $work/tables) or with one of the figures.
section() { # id, title, text, figures
	if [ ! -s "$work/tables" ]; then
		for name in $4 none; do
			! drawn "$name" || break
		done
		[ "$name" != none ] || return 1
	fi
	line H2 "$1" "$2"
	[ -z "$3" ] || line P "$3"
	note_recorded Data "$gpu"
}
whole_section() { # id, figure, title, text, legend: only with tables; the figure, then the tables
	[ -s "$work/tables" ] && section "$1" "$3" "$4" || return
	figure "$2" "$5"
	cat "$work/tables"
}

title() {
	# The GPU's name, else the processor's.
	name=$(sed -n -e '/^#/!q' -e 's/^# gpu: //p' -e 's/^# cpu: //p' "$own/profile.tsv" 2>/dev/null | grep -v '^none$' | tail -n 1)
	line H1 '' "fathom report: ${name:-a machine without a profile}${MACHINE:+ (recorded machine $MACHINE, chosen by MACHINE)}"
}
# The factorizations, one line each.
short_lines() {
	markup "$gpu" 'bench vendor' -v short=yes
	markup "$gpu" accuracy -v short=yes
	markup "$gpu" update -v short=yes
}
probe_sections() {
	line H2 probes 'Probe results'
	for probe in $probes; do
		line "$probe" "$(source_of "$probe")" "$(about "$probe" Title)" "$(about "$probe" Question)" "$(about "$probe" Figure)" \
			"$(about "$probe" Parameters)" "$(drawn "$probe" && echo drawn)"
	done >"$work/probes"
	awk -v own="$own" -v list="$work/probes" -f "$scripts/common.awk" -f "$scripts/parameters.awk"
}
memory_section() {
	drawn memory_system || return 0
	line H2 memory 'The memory system'
	line P 'The counterpart of Figure 2 of LAPACK Working Note 202 for this machine.'
	note_recorded 'The figure is' "$gpu"
	figure memory_system 'The areas of the on-chip memories have one scale; DRAM does not. Sizes that the probes did not resolve are left out.'
}
panel_section() {
	line H2 panel 'LU panels: rates against m'
	line P 'The counterpart of Figure 3 of LAPACK Working Note 202 for this machine. Rates use the operation count of LAPACK Working Note 41.'
	legend='Points: measured. Dashed: predicted before the run from the profile alone, with its interval as a band.'
	[ -z "$gpu" ] || note_recorded 'The figure on the GPU is' "$gpu"
	figure panel_cuda "$legend Grey: eq. (2) of LAWN 202, calls x start-up + traffic / gpu.copy.beta. Start-up is gpu.launch.stream for launches, gpu.barrier.counter over the grid for barriers."
	markup "$gpu" panel -v executor=cuda -v table=yes
	figure panel_host "$legend"
	markup "$own" panel -v executor=host -v table=yes
}
factor_section() {
	{
		markup "$gpu" 'bench vendor' -v table=yes
		markup "$gpu" 'bench bounds'
		markup "$gpu" 'bench travel'
	} >"$work/tables"
	section factor 'Factorizations: rates against n' \
		'The counterpart of Figures 7 and 8 of LAPACK Working Note 202 for this machine. Rates use the operation count of LAPACK Working Note 41. Of several block widths and algorithms the fastest is shown.' \
		'factor_s factor_d' || return 0
	for name in factor_s factor_d; do
		figure $name "Lines: make bench. Dashed and +: the model's plan at held-out sizes, predicted and measured."
	done
	figure vendor 'Medians of whole calls, interleaved in one process (make bench).'
	cat "$work/tables"
}
trace_section() {
	here=$(sha256sum "$gpu/profile.tsv" 2>/dev/null | cut -d' ' -f1)
	for file in "$gpu"/trace_*.tsv; do
		id=$(basename "$file" .tsv)
		if [ ! -f "$file" ] || ! markup "$gpu" trace -v file="$file" -v table="$id" >"$work/tables" 2>/dev/null ||
			[ ! -s "$work/tables" ]; then
			continue
		fi
		[ "${traced-}" ] || line H2 trace 'Timelines: simulated above measured'
		traced=yes
		line H3 "$id" "$(sed -n -e '/^#/!q' -e 's/^# title: simulated //p' "$file")"
		note_recorded 'The timelines are' "$gpu"
		[ "$(sed -n 's/^# profile_sha256: //p' "$file" | head -n 1)" = "$here" ] ||
			line NOTE "Simulated from another profile than the one in $gpu: fathom trace --tsv records it again."
		figure "$id" 'Every operation: where and when it ran. Above, the whole run; below, steps from its middle, of each timeline from their own begin. Operations shorter than 1/2000 of a view are left out.'
		cat "$work/tables"
	done
}
kerr_section() {
	[ -s "$gpu/kerr.tsv" ] || return 0
	markup "$gpu" kerr -v table=yes >"$work/tables"
	whole_section kerr kerr 'QR with the whole Q, as Kerr measured it' \
		'The counterpart of Tables 1 and 2 and Figures 2 to 6 of Kerr, Campbell and Richards (2009) for this machine. Rates use the operations of their Table 1; our algorithm needs fewer.' \
		"Dashed: predicted. The paper's points: the runs of its Table 2, and its best rate of gemv."
}
update_section() {
	markup "$gpu" update -v table=yes >"$work/tables"
	whole_section update update 'Update or refactor?' \
		'Rows or columns of A are added or removed after its QR factorization: update the factors, or factorize again? The counterpart of Figures 6 to 14 of Andrew and Dingle (2014) for this machine, in single precision, up to the least-squares solution. Times with the matrix in host memory include copies to the GPU, as in the paper: of the factors and the added part, or of the changed matrix.' \
		"Speedup of updating over factorizing again: with our routines, which form Q when Q is kept (colour, first number), and with cuSOLVER's geqrf, ormqr and trsm, which form no Q (second number). Orange: updating is slower. Black line: predicted break-even." ||
		return 0
	markup "$gpu" update_paper >"$work/tables"
	[ -s "$work/tables" ] || return 0
	line H3 update-paper "Andrew and Dingle's stages"
	line P 'Their Tables 1 and 2 for this machine: reflectors column by column with norms computed through the host, T by gemv, Givens rotations with one kernel for each wavefront. On their Tesla M2050 blocks of 50 to 100 columns were fastest.'
	cat "$work/tables"
}
gram_section() {
	markup "$gpu" gram_schmidt -v table=yes >"$work/tables"
	whole_section gram gram_schmidt 'Gram-Schmidt: GPU against CPU' \
		'The counterpart of Figures 6 to 10 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Rates use their 2mn^2 operations; passes count the bytes that have to move.' \
		"Dashed: predicted. direct, shared and wide are the paper's kernels; kernels and fused are our own passes; blocked holds columns in registers; block and twice apply blocks by products."
	[ -s "$own/gram_host.tsv" ] || return 0
	line H2 gram-host 'Gram-Schmidt on the host'
	line P 'The counterpart of Table 1 and Figures 2 and 4 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Of a matrix larger than the last cache some columns are computed; rates count the operations of these columns.'
	figure gram_host 'Dashed: predicted before the run.'
	markup "$own" gram_host -v table=yes
}
lawn_section() {
	markup "$gpu" 'bench lawn' >"$work/tables"
	markup "$gpu" lawn_products -v table=yes >>"$work/tables"
	section lawn 'LAPACK Working Note 202 beside this machine' '' breakdown || return 0
	cat "$work/tables"
	figure small_gemm 'The counterpart of Figure 5. Two stages: the fastest of 2, 4, 8 and 16 parts of k.'
	figure thin_gemm 'The counterpart of Figure 6. The host: square products only, from the probe of its rates.'
	figure breakdown 'The counterpart of Figures 10 and 11. Shares: each moment counts for one of the operations that run. Hidden: panels and transfers that run beside other work. Slowdowns are measured.'
}
# Whether predictions and measurements belong to the profile that is here.
chain_of() { # folder
	made=$(sed -n 's/^# profile_sha256: //p' "$1/predictions.tsv" 2>/dev/null | head -n 1)
	here=$(sha256sum "$1/profile.tsv" 2>/dev/null | cut -d' ' -f1)
	[ -z "$made" ] || [ "$made" = "$here" ] ||
		echo "Stale: the predictions in $1 were made from another profile than the one here: run make validate."
}
accuracy_sections() {
	line H2 accuracy 'Accuracy of predictions'
	folders | while read -r folder; do
		[ "$folder" = "$own" ] || line H3 recorded-accuracy "The recorded machine $folder"
		markup "$folder" accuracy -v id="$(kind_of "$folder")-" -v most=20 -v chain="$(chain_of "$folder")"
	done
}
rule_sections() {
	line H2 rules 'Design rules'
	if [ -n "$gpu" ]; then
		note_recorded 'These rules are' "$gpu"
		sh "$scripts/rules.sh" "$gpu" gpu markup
	else
		line P 'For the GPU: not measured here.'
	fi
	sh "$scripts/rules.sh" "$own" host markup
}
method_sections() {
	line H2 method Method
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
		set --
		for probe in $probes; do
			[ ! -s "$folder/$probe.tsv" ] || set -- "$@" "$folder/$probe.tsv"
		done
		[ $# -eq 0 ] || awk -v id="$(kind_of "$folder")" -f "$scripts/common.awk" -f "$scripts/method.awk" "$@"
	done
}
raw_sections() { # only in the page
	line H2 raw 'Raw tables'
	folders | while read -r folder; do
		for file in "$folder"/*.tsv; do
			case $file in
			*/trace_*) continue ;; # thousands of rows, drawn above
			esac
			line RAW "raw-$(kind_of "$folder")-$(basename "$file")" "$file" "$file"
		done
	done
}
# A link to each section.
navigation() {
	awk -F '\t' '$1 == "H2" { sub(/:.*/, "", $3); printf "%s\t%s\t%s", (n++ ? "" : "NAV"), $2, $3 } END { print "\traw\tRaw tables" }' "$work/markup"
}

driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
short_lines >"$work/short"
{
	title
	markup "$own" machine -v own="$own" -v gpu="$gpu" -v reason="$reason" -v more="$work/short" -v host="$(uname -n)" \
		-v driver="$driver" -v now="$(date +%s)"
	probe_sections
	memory_section
	panel_section
	factor_section
	trace_section
	kerr_section
	update_section
	gram_section
	lawn_section
	accuracy_sections
	rule_sections
	method_sections
} >"$work/markup" || exit 1

awk -f "$scripts/text.awk" "$work/markup" >"$report/report.txt.new" || exit 1
mv "$report/report.txt.new" "$report/report.txt"
{
	cat <<-HTML
		<!DOCTYPE html>
		<html lang="en">
		<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<title>fathom report</title>
		<style>
	HTML
	cat "$scripts/report.css"
	printf '</style>\n</head>\n<body>\n'
	{ sed 1q "$work/markup"; navigation; sed 1d "$work/markup"; raw_sections; } |
		awk -v figures="$figures" -f "$scripts/html.awk"
	printf '<footer>Written %s from %s.</footer>\n</body>\n</html>\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		"$(folders | paste -s -d ' ' -)"
} >"$report/report.html.new" || exit 1
mv "$report/report.html.new" "$report/report.html"

cat "$report/report.txt"
echo
echo "$report/report.html"
exit $status
