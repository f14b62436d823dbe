# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2317 # sourced by report.sh, which calls sections by name
# The sections of papers.html, as markup.

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
# Folders with a profile, one GPU's first, for awk.
machines_after() { # folder
	{
		echo "$1"
		for folder in "$data"/*/; do
			[ "${folder%/}" = "$1" ] || [ ! -s "$folder/profile.tsv" ] || echo "${folder%/}"
		done
	} | paste -s -d '|' -
}
# Answers of this machine to questions that the papers leave open: an answer with its question as a heading.
answer() { # id, question; the answer as markup on standard input
	cat >"$work/answer"
	[ -s "$work/answer" ] || return 0
	line H3 "$1" "$2"
	cat "$work/answer"
}
open_questions() {
	[ -n "$gpu" ] || return 0
	[ -s "$work/rules.gpu" ] || sh "$scripts/rules.sh" "$lean_gpu" gpu both "$work/rules.gpu.tsv" >"$work/rules.gpu" 2>/dev/null
	panel=$(sed -n 's/^LI	CPU panel, as measured: //p' "$work/rules.gpu")
	{
		markup "$gpu" 'bench papers_questions' -v question=barrier | answer question-barrier 'Is a barrier over the grid cheaper than a launch, and when? (LAWN 202)'
		markup "$gpu" 'bench papers_questions' -v question=panel -v panel="$panel" | answer question-panel 'Do panels belong on the CPU? (LAWN 202, Kerr et al.)'
		markup "$gpu" update -v answer=yes | answer question-update 'Does updating a QR factorization pay? (Andrew and Dingle)'
		markup "$gpu" gram_schmidt -v answer=yes | answer question-gram 'Why do CPU and GPU differ by more than 1.5 times? (Brandes et al.)'
	} >"$work/questions"
	if [ -s "$work/questions" ]; then
		line H2 questions 'Questions that the papers leave open'
		note_recorded Data "$gpu"
	fi
	cat "$work/questions"
}
lawn_paper() {
	{
		markup "$gpu" lawn_machines -v folders="$(machines_after "$gpu")"
		markup "$gpu" lawn_probes
		markup "$lean_gpu" 'bench lawn'
		markup "$gpu" lawn_widths
		markup "$gpu" 'bench lawn_own' -v table=yes
		markup "$lean_gpu" lawn_products -v table=yes
		markup "$gpu" 'bench lawn_several' -v folders="$(machines_after "$gpu")"
	} >"$work/lawn"
	paper lawn 'LAPACK Working Note 202 beside this machine' '' breakdown || return 0
	cat "$work/lawn"
	figure small_gemm 'The counterpart of Figure 5. Two stages: the fastest of 2, 4, 8 and 16 parts of k.' "$gpu" bench.tsv
	figure thin_gemm 'The counterpart of Figure 6. The host: OpenBLAS, by all its threads from 2^24 operations on, by one below.' "$gpu" bench.tsv
	figure breakdown 'The counterpart of Figures 10 and 11. Shares: each moment counts for one of the operations that run. Hidden: panels and transfers that run beside other work. Slowdowns are measured.' "$gpu" breakdown.tsv
	figure lawn_own "The counterpart of Figures 7 and 11 with the paper's own plans. Both transfers of the matrix count." "$gpu" lawn.tsv
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
	serial=$own
	[ -s "$own/update_paper.tsv" ] || serial=$gpu
	{
		markup "$gpu" update_paper
		markup "$serial" update_serial
		markup "$gpu" update_errors
	} >"$work/update-paper"
	[ -s "$work/update-paper" ] && paper update-paper "Andrew and Dingle's stages" 'Their Tables 1 to 5 for this machine: reflectors column by column with norms computed through the host, T by gemv, Givens rotations with one kernel for each wavefront. On their Tesla M2050 blocks of 50 to 100 columns were fastest. The counterpart of their Figures 8 to 14: report.html, Update or refactor.' update_columns || return 0
	figure update_columns "The counterpart of Figures 6 and 7. Dashed: predicted before the run. The paper's largest speedup: few columns added at the end." "$gpu" update.tsv
	cat "$work/update-paper"
}
gram_paper() {
	if paper gram 'Gram-Schmidt: GPU against CPU' 'The counterpart of Figures 6 to 10 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Rates use their 2mn^2 operations; passes count the bytes that have to move. Tables: report.html, Gram-Schmidt.' gram_schmidt; then
		figure gram_schmidt "Dashed: predicted. direct, shared and wide are the paper's kernels; kernels and fused are our own passes; blocked holds columns in registers; block and twice apply blocks by products." "$gpu" bench.tsv
		markup "$gpu" gram_machines -v folders="$(machines_after "$gpu")"
		markup "$gpu" 'bench papers_questions' -v question=reduction
	fi
	[ -s "$own/gram_host.tsv" ] || return 0
	line H2 gram-host 'Gram-Schmidt on the host'
	line P 'The counterpart of Table 1 and Figures 2 and 4 of Brandes, Arnold, Soddemann and Reith (2012) for this machine. Of a matrix larger than the last cache some columns are computed; rates count the operations of these columns.'
	figure gram_host 'Dashed: predicted before the run.' "$own" gram_host.tsv
	markup "$own" gram_host -v table=yes
}
papers_title() {
	title="fathom and the papers: $(name_of "$own")"
	[ -z "$gpu" ] || [ "$gpu" = "$own" ] || title="$title; GPU answers from the recorded $(name_of "$gpu")"
	line H1 '' "$title"
	line LI 'This machine itself:' report.html report.html
	for file in "$gpu/bench.tsv" "$gpu/kerr.tsv" "$gpu/update_paper.tsv" "$own/gram_host.tsv"; do
		[ ! -s "$file" ] || return 0
	done
	line P 'The papers were not measured on this machine: make bench measures them.'
}
