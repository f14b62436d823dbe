#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints docs/papers.md from the rows of data/papers/coverage.tsv: counts, then a table for each paper.
# Usage: sh scripts/papers_page.sh COVERAGE
set -u
LC_ALL=C
export LC_ALL
[ $# -eq 1 ] || {
	echo "usage: papers_page.sh data/papers/coverage.tsv" >&2
	exit 2
}
awk -F '\t' '
function code(text) { return text == "-" ? "" : "`" text "`" }
function place(text) { return text == "-" ? "" : text ~ /[.]html#/ ? code(text) : "[" text "](../" text ")" }
function escaped(text) {
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	gsub(/[|*_]/, "\\\\&", text)
	return text == "-" ? "" : text
}
# A line of counts, by kind and by status.
function counts(paper, text,   i, line) {
	line = "| " text " | " count[paper] + 0
	for (i = 1; i <= kinds; i++)
		line = line " | " count[paper, kind[i]] + 0
	for (i = 1; i <= states; i++)
		line = line " | " count[paper, status[i]] + 0
	print line " |"
}
function section(paper, name, work,   r, c) {
	print "\n## " name "\n\n" work "\n\n| item | shows | command | place | status | why |\n|---|---|---|---|---|---|"
	for (r = 1; r <= rows; r++) {
		split(row[r], c, "\t")
		if (c[1] == paper)
			print "| " escaped(c[3]) " | " escaped(c[4]) " | " code(c[5]) " | " place(c[6]) " | " c[7] " | " escaped(c[9]) " |"
	}
}
/^#/ { next }
!columns { columns = NF; next }
{
	row[++rows] = $0
	count[$1]++; count[$1, $2]++; count[$1, $7]++
	count["all"]++; count["all", $2]++; count["all", $7]++
	if ($7 == "partial" || $7 == "missing")
		needing[$8]++
}
END {
	kinds = split("figure table experiment system claim", kind, " ")
	states = split("done,partial,missing,not planned", status, ",")
	print "# The four papers\n"
	print "Every figure, table, experiment, system and claim of the four papers whose methods fathom uses, the command that measures or prints our"
	print "counterpart, and its place. `fathom report --machine nvidia-h200` writes the pages `report.html` and `papers.html`. The status says what"
	print "the code can do and what is recorded for the NVIDIA H200. For the H100 the profile, factorizations and updates are recorded, but not"
	print "Gram-Schmidt, products, `--kerr`, `--paper` and `--gram-host`.\n"
	print "`make docs` writes this page from [data/papers/coverage.tsv](../data/papers/coverage.tsv).\n"
	print "| paper | rows | figures | tables | experiments | systems | claims | done | partial | missing | not planned |"
	print "|---|---|---|---|---|---|---|---|---|---|---|"
	counts("volkov2008", "[LAWN 202](#lawn-202)")
	counts("kerr2009", "[Kerr et al.](#kerr-et-al)")
	counts("brandes2012", "[Brandes et al.](#brandes-et-al)")
	counts("andrew2014", "[Andrew and Dingle](#andrew-and-dingle)")
	counts("all", "all")
	print "\nAn earlier list had 142 rows: 67, 23, 23 and 29 by paper. This one has a row for each figure and each table, with illustrations. It divides"
	print "rows that held two things, such as an algorithm and its accuracy, or a technique and what the paper claims for it.\n"
	print "Partial and missing rows need:\n"
	print "| what | rows |"
	print "|---|---|"
	needs = split("code|code,gpu|gpu|gpu,hardware|hardware|compiler", need, "|")
	split("code|code, then time on a GPU machine|time on a GPU machine|time on other GPUs|hardware that was not there|a compiler that was not there", text_of, "|")
	for (i = 1; i <= needs; i++)
		if (needing[need[i]])
			print "| " text_of[i] " | " needing[need[i]] " |"
	section("volkov2008", "LAWN 202", "V. Volkov, J. Demmel, *LU, QR and Cholesky factorizations using vector capabilities of GPUs*, LAPACK Working Note 202, 2008.")
	section("kerr2009", "Kerr et al.", "A. Kerr, D. Campbell, M. Richards, *QR decomposition on GPUs*, GPGPU 2009.")
	section("brandes2012", "Brandes et al.", "T. Brandes, A. Arnold, T. Soddemann, D. Reith, *CPU vs. GPU: performance comparison for the Gram-Schmidt algorithm*, 2012.")
	section("andrew2014", "Andrew and Dingle", "R. Andrew, N. Dingle, *Implementing QR factorization updating algorithms on GPUs*, 2014.")
}' "$1"
