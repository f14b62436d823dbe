# SPDX-License-Identifier: MIT
# Changes of a QR factorization as Andrew and Dingle make them, from DATA/update_paper.tsv (measure --paper), as markup: the width
# of the blocks (their Table 1) and the stages (Table 2), predicted and measured:
#   awk -v data=DATA -f common.awk -f update_paper.awk
function is_time(x) { return is_number(x) && x > 0 }
function number(x) { return is_number(x) ? x + 0 : 0 }
function milliseconds(x) { return is_time(x) ? significant(x * 1e3, 3) : "-" }
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
# Predicted / measured.
function both(where, way, phase) {
	if (!(("cuda", where, way, phase) in time))
		return "-"
	return milliseconds(time["model", where, way, phase]) " / " milliseconds(time["cuda", where, way, phase])
}
function ours(where) {
	return milliseconds(time["cuda", where, "update", 0, ""])
}
function words_of(where,   f, change) {
	split(where, f, SUBSEP)
	change = f[1]
	gsub(/_/, " ", change)
	return change (f[2] == "none" ? ", R and d" : ", " f[2] " Q") "|" f[3] "|" f[4] "|" f[6] "|" f[5]
}
# What was measured for as many widths as a table is worth.
function width_table(   i, j, n, list, width, part, line, count) {
	n = split("10 20 50 75 100 200 500 1000", width, " ")
	line = "<change|>m|>n|>p|>k"
	for (j = 1; j <= n; j++)
		line = line "|>" (j == 1 ? "width " : "") width[j]
	table_start("paper-widths", "1000 reflectors on 1000 columns by the width of the blocks: ms, predicted / measured", line "|!>ours")
	for (i = 1; i <= places; i++) {
		count = split(ways[place[i]], list, " ")
		if (count < 5)
			continue
		line = words_of(place[i])
		for (j = 1; j <= n; j++)
			line = line "|" both(place[i], "paper" SUBSEP width[j], "")
		table_row("", line "|" ours(place[i]))
	}
	table_end()
}
function stage_table(   i, j, s, n, list, count, part, line, phase) {
	n = split("project house t apply_r apply_d apply_q givens_r givens_q whole", phase, " ")
	table_start("paper-stages", "Stages, one after another: ms, predicted / measured", "<change|>m|>n|>p|>k|>width|>Q'U|>vectors|>T|>to R|" \
		">to d|>to Q|>Givens, R|>Givens, Q|>plain QR|>all, side by side|!>ours")
	for (i = 1; i <= places; i++) {
		count = split(ways[place[i]], list, " ")
		for (j = 1; j <= count && count < 5; j++) {
			split(list[j], part, ":")
			line = words_of(place[i]) "|" (part[1] == "whole" ? "plain" : part[2] + 0 ? part[2] : "-")
			for (s = 1; s <= n; s++)
				line = line "|" both(place[i], part[1] SUBSEP part[2], phase[s])
			table_row("", line "|" both(place[i], part[1] SUBSEP part[2], "") "|" ours(place[i]))
		}
	}
	table_end()
}
BEGIN {
	if (!load(data "/update_paper.tsv", M))
		exit
	collect()
	if (places) {
		width_table()
		stage_table()
	}
}
