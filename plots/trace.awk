# SPDX-License-Identifier: MIT
# A factorization's timelines, simulated and measured, as `trace --tsv` keeps them.
#   awk -v file=TRACE.tsv [-v folder=DIR -v steps=N | -v table=ID] -f common.awk -f trace.awk
# With a folder: writes DIR/PHASE.tsv for the figure, its boxes (part begin end y: milliseconds; part 1 is the whole run
# without the slivers, part 2 the N steps in its middle, from the first one's begin), prints the phases. With a table:
# markup. Lanes: all lanes of either timeline, simulated above measured.

function lane_of(i) { return T[i, "engine"] }
function queueing(i) { return T[i, "operation"] == "queueing" }
function phase_of(i) { return queueing(i) ? "queueing" : T[i, "phase"] }
function side_of(i) { return T[i, "timeline"] == "measured" ? 2 : 1 }
function magnitude(x) { return x < 0 ? -x : x }

# last[side], begin[side, block], blocks, lanes in use.
function survey(i,   s, b, l) {
	for (i = 1; i <= T["rows"]; i++) {
		s = side_of(i)
		l = lane_of(i)
		b = T[i, "block"] + 0
		if (T[i, "end_s"] + 0 > last[s])
			last[s] = T[i, "end_s"] + 0
		entries[s]++
		used[l] = 1
		if (!queueing(i) && !((s, b) in begin)) {
			begin[s, b] = T[i, "begin_s"]
			if (b > blocks)
				blocks = b
		}
	}
}

# ---- for the figure ----

function rows(   n, i, lane) {
	n = split("host,main,panel,out,in,copy to host,copy to device", lane, ",")
	for (i = 1; i <= n; i++)
		if (lane[i] in used) {
			y_of[lane[i]] = height++
			name[height] = lane[i]
		}
}
function box(part, phase, begin_s, end_s, y,   out) {
	out = folder "/" phase ".tsv"
	if (!(phase in begun)) {
		print "part\tbegin\tend\ty" >out
		phases = phases " " phase
	}
	begun[phase] = 1
	printf "%d\t%.7g\t%.7g\t%g\n", part, 1e3 * begin_s, 1e3 * end_s, y >out
}
# Simulated on top: y falls from 0; a row's gap between the two.
function place(side, lane) { return -y_of[lane] - (side == 2 ? height + 1 : 0) }
# Calls close to each other are one box.
function queue_on(side, a, b, y, gap) {
	if (side in queued_to && a - queued_to[side] > gap) {
		box(1, "queueing", queued_from[side], queued_to[side], y)
		delete queued_to[side]
	}
	if (!(side in queued_to))
		queued_from[side] = a
	queued_to[side] = b
}
function write_boxes(   i, s, whole, first, from, to, a, b, y) {
	whole = last[1] > last[2] ? last[1] : last[2]
	first = int((blocks - steps) / 2)
	first = first < 0 ? 0 : first
	for (i = 1; i <= T["rows"]; i++) {
		s = side_of(i)
		a = T[i, "begin_s"] + 0
		b = T[i, "end_s"] + 0
		y = place(s, lane_of(i))
		if (queueing(i))
			queue_on(s, a, b, y, 5e-4 * whole)
		else if (b - a > 5e-4 * whole)
			box(1, phase_of(i), a, b, y)
		from = begin[s, first]
		to = (s, first + steps) in begin ? begin[s, first + steps] : last[s]
		if (b > from && a < to)
			box(2, phase_of(i), (a > from ? a : from) - from, (b < to ? b : to) - from, y)
	}
	for (s = 1; s <= 2; s++)
		queue_on(s, 2 * whole, 2 * whole, place(s, name[1]), 0)
	for (s = 1; s <= 2; s++)
		for (i = 1; i <= height; i++)
			print place(s, name[i]) "\t" name[i] >(folder "/lanes.txt")
	print "first = " first "; rows = " place(2, name[height]) "; middle = " place(2, name[1]) + 0.85 >(folder "/facts.gp")
	print substr(phases, 2)
}

# ---- for the report ----

function add_up(   i, s, key) {
	for (i = 1; i <= T["rows"]; i++) {
		s = side_of(i)
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
		if (!(key in cost)) {
			cost[key] = 1
			operation[++operations] = key
		}
		spent[s, key] += T[i, "end_s"] - T[i, "begin_s"]
		if (s == 2)
			times[key]++
	}
	for (s = 1; s <= 2; s++)
		critical[s, "waiting"] = last[s] - total[s]
	order[++keys] = "waiting"
}
function share(s, values, key) { return key == "waiting" && values == "busy" ? "-" : percent((values == "busy" ? busy[s, key] : critical[s, key]) / last[s]) }
function phase_table(   i, key) {
	table_start(table "-phases", "Busy: time of a phase's operations. Exposed: its time on the critical path; the rest overlaps with updates", "<phase|>simulated busy [%]|>measured [%]|>simulated exposed [%]|>measured [%]|>difference [points]")
	for (i = 1; i <= keys; i++) {
		key = order[i]
		table_row("", key "|" (key == "host" || key == "waiting" ? "-|-" : share(1, "busy", key) "|" share(2, "busy", key)) "|" \
			share(1, "critical", key) "|" share(2, "critical", key) "|" \
			sprintf("%+.1f", 100 * (critical[1, key] / last[1] - critical[2, key] / last[2])))
	}
	table_end()
}
function furthest(   i, key, best, far) {
	for (i = 1; i <= operations; i++) {
		key = operation[i]
		if (!(key in shown) && (best == "" || magnitude(spent[1, key] - spent[2, key]) > far)) {
			best = key
			far = magnitude(spent[1, key] - spent[2, key])
		}
	}
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
	survey()
	if (!entries[1] || !entries[2])
		exit
	if (table == "") {
		rows()
		write_boxes()
		exit
	}
	add_up()
	paragraph("Simulated " with_unit(last[1], "s") ", measured " with_unit(last[2], "s") sprintf(" (%+.1f %%)", \
		100 * (last[1] / last[2] - 1)) "; the same limiter in " meta("same_limiter") " steps. Without records the run takes " \
		with_unit(meta("plain_seconds"), "s") "; records add " \
		sprintf("%+.1f %%", 100 * (meta("recorded_seconds") / meta("plain_seconds") - 1)) ". Plan: nb=" meta("nb") " " meta("plan") \
		", panels on the " meta("panels") "; the clocks of host and GPU are aligned to +- " with_unit(meta("clocks_seconds"), "s") ".")
	phase_table()
	operation_table()
}
