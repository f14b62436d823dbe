# SPDX-License-Identifier: MIT
# Andrew and Dingle's updates of a QR factorization, from DATA/update_paper.tsv (measure --paper), as markup: the width of the
# blocks (their Table 1) and the stages (Table 2), predicted and measured:
#   awk -v data=DATA -f common.awk -f update_paper.awk
function milliseconds(x) {
	x *= 1e3
	return !is_time(x) ? "-" : sprintf(x >= 99.95 ? "%.0f" : x >= 9.995 ? "%.1f" : "%.2f", x)
}
# place[1..]: a change of one matrix, as terms; ways[place]: the rows of the paper's ways to do it.
function collect(   i, where) {
	for (i = 1; i <= T["rows"]; i++) {
		where = "operation=" T[i, "operation"] " q=" field(i, "q") " m=" T[i, "m"] " n=" T[i, "n"] " k=" T[i, "k"] " p=" T[i, "p"]
		if (!is_time(T[i, "seconds"]) || T[i, "executor"] != "cuda" || field(i, "phase") != "" || T[i, "variant"] ~ /^(update|refactor)$/)
			continue
		if (!(where in ways))
			place[++places] = where
		ways[where] = ways[where] " " i
	}
}
function time_of(terms) { return T[first_with(terms, "seconds"), "seconds"] }
# Predicted / measured, of all phases together; "" is the whole.
function both(way, phases,   n, i, phase, model, cuda) {
	n = split(phases == "" ? "=" : phases, phase, " ")
	for (i = 1; i <= n; i++) {
		sub(/=/, "", phase[i])
		model += time_of(way " executor=model phase=" phase[i])
		cuda += time_of(way " executor=cuda phase=" phase[i])
	}
	return is_time(cuda) ? milliseconds(model) " / " milliseconds(cuda) : "-"
}
function ours(where) { return milliseconds(time_of(where " executor=cuda variant=update phase=")) }
# A new QR of the changed matrix, and the speedup of a way over it. Rows of a new QR have no k.
function again(where) {
	sub(/ k=[^ ]*/, "", where)
	return time_of(where " executor=cuda variant=refactor phase=")
}
function new_qr(where, way,   seconds, theirs) {
	seconds = again(where)
	theirs = time_of(way " executor=cuda phase=")
	return milliseconds(seconds) "|" (is_time(seconds) && is_time(theirs) ? significant(seconds / theirs, 2) : "-")
}
function words_of(where,   i, change) {
	i = ways[where] + 0
	change = T[i, "operation"]
	gsub(/_/, " ", change)
	return change (field(i, "q") == "none" ? ", R and d" : ", " field(i, "q") " Q")
}
# Studies of many widths.
function wide(where,   list) { return split(ways[where], list, " ") >= 5 }
function width_table(   i, j, n, width, line, columns) {
	for (i = 1; i <= places; i++)
		if (wide(place[i]))
			columns = columns "|>" words_of(place[i])
	if (columns == "")
		return
	table_start("paper-widths", "1000 reflectors on 1000 columns by the width of the blocks: ms, predicted / measured", ">width" columns)
	n = split("10 20 50 75 100 200 500 1000 ours", width, " ")
	for (j = 1; j <= n; j++) {
		line = width[j]
		for (i = 1; i <= places; i++)
			if (wide(place[i]))
				line = line "|" (j == n ? ours(place[i]) : both(place[i] " variant=paper nb=" width[j], ""))
		table_row(j == n ? "sum" : "", line)
	}
	table_end()
}
# The stages of one change, each the sum of the phases between bars.
function stage_table(change, caption, columns, phases,   a, i, j, s, n, list, count, way, line, stage, nb) {
	n = split(phases "|", stage, "|")
	table_start("paper-" change, caption ": stages one after another; all: stages overlapped; ms, predicted / measured", \
		"<m n p k|<Q|>width" columns "|>all|!>ours|!>new QR|!>speedup")
	for (a = 1; a <= places; a++) {
		count = split(ways[place[a]], list, " ")
		for (j = 1; j <= count && T[list[1], "operation"] == change && !wide(place[a]); j++) {
			i = list[j]
			way = place[a] " variant=" T[i, "variant"] " nb=" T[i, "nb"]
			nb = is_number(T[i, "nb"]) ? T[i, "nb"] + 0 : "-"
			line = T[i, "m"] " " T[i, "n"] " " T[i, "p"] " " (is_number(T[i, "k"]) ? T[i, "k"] : 0) "|" field(i, "q") "|" \
				(T[i, "variant"] == "whole" ? "plain" : nb)
			for (s = 1; s <= n; s++)
				line = line "|" both(way, stage[s])
			table_row("", line "|" ours(place[a]) "|" new_qr(place[a], way))
		}
	}
	table_end(change == "remove_columns" ? "Speedup: of the paper's way over a new QR by our routines, both with the solution." : "")
}
BEGIN {
	if (!load(data "/update_paper.tsv", T))
		exit
	collect()
	width_table()
	stage_table("remove_columns", "Columns removed", "|>vectors|>T|>to R, d|>to Q", "house|t|apply_r apply_d|apply_q")
	stage_table("add_rows", "Rows added (plain: QR of [R; U])", "|>vectors|>T|>to R, d|>to Q", "house whole|t|apply_r apply_d|apply_q")
	stage_table("add_columns", "Columns added (plain: Householder with fill-in)", "|>below R|>R|>Q", \
		"project house t apply_r apply_d|givens_r whole|givens_q apply_q")
	stage_table("remove_rows", "Rows removed", "|>Givens, R|>Givens, Q", "givens_r|givens_q")
}
