# SPDX-License-Identifier: MIT
# Tables of a factorization's timelines, simulated and measured, as `trace --tsv` keeps them, as markup:
#   awk -v file=TRACE.tsv -v table=ID -f common.awk -f trace.awk
# `trace --svg` draws the figure.

function queueing(i) { return T[i, "operation"] == "queueing" }
function side_of(i) { return T[i, "timeline"] == "measured" ? 2 : 1 }
function add_up(   i, s, key) { # last[side], entries[side], and by phase and by operation
	for (i = 1; i <= T["rows"]; i++) {
		s = side_of(i)
		last[s] = T[i, "end_s"] + 0 > last[s] ? T[i, "end_s"] + 0 : last[s]
		entries[s]++
		key = queueing(i) ? "host" : T[i, "phase"]
		if (!(key in listed)) {
			listed[key] = 1
			order[++keys] = key
		}
		critical[s, key] += T[i, "critical_s"]
		total[s] += T[i, "critical_s"]
		if (queueing(i))
			continue
		busy[s, key] += T[i, "end_s"] - T[i, "begin_s"]
		key = T[i, "operation"] "|" T[i, "lane"]
		if (!(key in times))
			operation[++operations] = key
		spent[s, key] += T[i, "end_s"] - T[i, "begin_s"]
		times[key] += s == 2
	}
	for (s = 1; s <= 2; s++)
		critical[s, "waiting"] = last[s] - total[s]
	order[++keys] = "waiting"
}
function share(s, seconds) { return percent(seconds / last[s]) }
function phase_table(   i, key) {
	table_start(table "-phases", "Busy: time of a phase's operations. Exposed: its time on the critical path; the rest overlaps with updates", "<phase|>simulated busy [%]|>measured [%]|>simulated exposed [%]|>measured [%]|>difference [points]")
	for (i = 1; i <= keys; i++) {
		key = order[i]
		table_row("", key "|" (key == "host" || key == "waiting" ? "-|-" : share(1, busy[1, key]) "|" share(2, busy[2, key])) "|" \
			share(1, critical[1, key]) "|" share(2, critical[2, key]) "|" \
			sprintf("%+.1f", 100 * (critical[1, key] / last[1] - critical[2, key] / last[2])))
	}
	table_end()
}
function difference(key) { return magnitude(spent[1, key] - spent[2, key]) }
function furthest(   i, best) {
	for (i = 1; i <= operations; i++)
		if (!(operation[i] in shown) && (best == "" || difference(operation[i]) > difference(best)))
			best = operation[i]
	if (best != "")
		shown[best] = 1
	return best
}
function operation_table(   i, key) {
	table_start(table "-operations", "Operations with the largest errors, all calls together", \
		"<operation|<queue|>calls|>simulated [us]|>measured [us]|>difference [us]")
	for (i = 1; i <= 5 && (key = furthest()) != ""; i++)
		table_row("", key "|" times[key] + 0 "|" sprintf("%.0f|%.0f|%+.0f", 1e6 * spent[1, key], 1e6 * spent[2, key], \
			1e6 * (spent[1, key] - spent[2, key])))
	table_end()
}
function meta(key) { return T["meta", key] }

BEGIN {
	if (!load(file, T))
		exit
	add_up()
	if (!entries[1] || !entries[2])
		exit
	paragraph("Simulated " with_unit(last[1], "s") ", measured " with_unit(last[2], "s") sprintf(" (%+.1f %%)", \
		100 * (last[1] / last[2] - 1)) "; the same limiter in " meta("same_limiter") " steps. Without records the run takes " \
		with_unit(meta("plain_seconds"), "s") "; records add " \
		sprintf("%+.1f %%", 100 * (meta("recorded_seconds") / meta("plain_seconds") - 1)) ". Plan: nb=" meta("nb") " " meta("plan") \
		", panels on the " meta("panels") "; the clocks of host and GPU are aligned to +- " with_unit(meta("clocks_seconds"), "s") ".")
	phase_table()
	operation_table()
}
