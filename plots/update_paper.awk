# SPDX-License-Identifier: MIT
# Andrew and Dingle's updates of a QR factorization, from DATA/update_paper.tsv (measure --paper), as markup: the width of the
# blocks (their Table 1) and the stages (Table 2), predicted and measured:
#   awk -v data=DATA -f common.awk -f update_paper.awk
function number(x) { return is_number(x) ? x + 0 : 0 }
function milliseconds(x) {
	x *= 1e3
	return !is_time(x) ? "-" : sprintf(x >= 99.95 ? "%.0f" : x >= 9.995 ? "%.1f" : "%.2f", x)
}
function collect(   i, way, where, phase) {
	for (i = 1; i <= M["rows"]; i++) {
		where = M[i, "operation"] SUBSEP option(M[i, "options"], "q") SUBSEP M[i, "m"] + 0 SUBSEP M[i, "n"] + 0 SUBSEP \
			number(M[i, "k"]) SUBSEP M[i, "p"] + 0
		way = M[i, "variant"] SUBSEP number(M[i, "nb"])
		phase = option(M[i, "options"], "phase")
		if (!is_time(M[i, "seconds"]))
			continue
		time[M[i, "executor"], where, way, phase] = M[i, "seconds"] + 0
		if (M[i, "executor"] != "cuda" || phase != "" || M[i, "variant"] == "update")
			continue
		if (!(where in ways))
			place[++places] = where
		ways[where] = ways[where] (where in ways ? " " : "") M[i, "variant"] ":" number(M[i, "nb"])
	}
}
# Predicted / measured, of all phases together; "" is the whole.
function both(where, way, phases,   n, i, phase, model, cuda) {
	n = split(phases, phase, " ")
	for (i = 1; i <= n; i++) {
		model += time["model", where, way, phase[i]]
		cuda += time["cuda", where, way, phase[i]]
	}
	if (!n) {
		model = time["model", where, way, ""]
		cuda = time["cuda", where, way, ""]
	}
	return is_time(cuda) ? milliseconds(model) " / " milliseconds(cuda) : "-"
}
function ours(where) { return milliseconds(time["cuda", where, "update", 0, ""]) }
function change_of(where,   f) {
	split(where, f, SUBSEP)
	return f[1]
}
function words_of(where,   f, change) {
	split(where, f, SUBSEP)
	change = f[1]
	gsub(/_/, " ", change)
	return change (f[2] == "none" ? ", R and d" : ", " f[2] " Q")
}
function sizes_of(where,   f) {
	split(where, f, SUBSEP)
	return f[3] " " f[4] " " f[6] " " f[5] "|" f[2]
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
	n = split("10 20 50 75 100 200 500 1000", width, " ")
	for (j = 1; j <= n + 1; j++) {
		line = j > n ? "ours" : width[j]
		for (i = 1; i <= places; i++)
			if (wide(place[i]))
				line = line "|" (j > n ? ours(place[i]) : both(place[i], "paper" SUBSEP width[j], ""))
		table_row(j > n ? "sum" : "", line)
	}
	table_end()
}
# The stages of one change, each the sum of the phases between bars.
function stage_table(change, caption, columns, phases,   i, j, s, n, list, count, part, way, line, stage, begun) {
	n = split(phases, stage, "|")
	for (i = 1; i <= places; i++) {
		if (change_of(place[i]) != change || wide(place[i]))
			continue
		if (!begun++)
			table_start("paper-" change, caption ": stages one after another; all: stages overlapped; ms, predicted / measured", \
				"<m n p k|<Q|>width" columns "|>all|!>ours")
		count = split(ways[place[i]], list, " ")
		for (j = 1; j <= count; j++) {
			split(list[j], part, ":")
			way = part[1] SUBSEP part[2]
			line = sizes_of(place[i]) "|" (part[1] == "whole" ? "plain" : part[2] + 0 ? part[2] : "-")
			for (s = 1; s <= n; s++)
				line = line "|" both(place[i], way, stage[s])
			table_row("", line "|" both(place[i], way, "") "|" ours(place[i]))
		}
	}
	if (begun)
		table_end()
}
BEGIN {
	if (!load(data "/update_paper.tsv", M))
		exit
	collect()
	width_table()
	stage_table("remove_columns", "Columns removed", "|>vectors|>T|>to R, d|>to Q", "house|t|apply_r apply_d|apply_q")
	stage_table("add_rows", "Rows added (plain: QR of [R; U])", "|>vectors|>T|>to R, d|>to Q", "house whole|t|apply_r apply_d|apply_q")
	stage_table("add_columns", "Columns added (plain: Householder with fill-in)", "|>below R|>R|>Q", \
		"project house t apply_r apply_d|givens_r whole|givens_q apply_q")
	stage_table("remove_rows", "Rows removed", "|>Givens, R|>Givens, Q", "givens_r|givens_q")
}
