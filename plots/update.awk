# SPDX-License-Identifier: MIT
# Update a QR factorization or factorize again, from DATA/update.tsv and DATA/update_predictions.tsv:
#   awk -v data=DATA -f common.awk -f update.awk with
#   -v folder=WORK   writes MAP_{measured,predicted}.tsv (x, y, value, label), MAP_even.tsv (x, y: predicted
#                    break-even), MAP.gp (axes) and choice_CHANGE.tsv (predicted, measured); prints the number of maps
#   -v table=yes     prints the answer, the decisions and the ratios as markup
#   -v short=yes     prints a line
function key_of(T, i,   q) {
	q = option(T[i, "options"], "q") (option(T[i, "options"], "from") == "host" ? " host" : "")
	return T[i, "operation"] SUBSEP q SUBSEP T[i, "variant"] SUBSEP T[i, "m"] + 0 SUBSEP T[i, "n"] + 0 SUBSEP \
		(T[i, "variant"] == "update" ? number(T[i, "k"]) : 0) SUBSEP T[i, "p"] + 0
}
function number(x) { return is_number(x) ? x + 0 : 0 }
function collect(   i) {
	for (i = 1; i <= M["rows"]; i++)
		if (is_time(M[i, "seconds"]) && M[i, "executor"] == "cuda" && M[i, "precision"] == "s") {
			if (!(key_of(M, i) in measured))
				key[++keys] = key_of(M, i)
			measured[key_of(M, i)] = M[i, "seconds"] + 0
		}
	for (i = 1; i <= P["rows"]; i++)
		if (is_time(P[i, "seconds"]) && P[i, "executor"] == "cuda" && P[i, "precision"] == "s")
			predicted[key_of(P, i)] = P[i, "seconds"] + 0
}
# Speedup of updating over another method, "" when not known.
function over(T, way, operation, q, m, n, k, p,   a, b) {
	a = operation SUBSEP q SUBSEP way SUBSEP m SUBSEP n SUBSEP 0 SUBSEP p
	b = operation SUBSEP q SUBSEP "update" SUBSEP m SUBSEP n SUBSEP k SUBSEP p
	return a in T && b in T ? T[a] / T[b] : ""
}
function ours(operation, q, m, n, k, p) { return over(measured, "refactor", operation, q, m, n, k, p) }
function vendor(operation, q, m, n, k, p) { return over(measured, "cusolver", operation, q, m, n, k, p) }
function model(operation, q, m, n, k, p) { return over(predicted, "refactor", operation, q, m, n, k, p) }

# ---- maps ----

function part_name(d) { return d == 1 ? "n" : "n/" d }
function short_ratio(x) { return x == "" ? "" : x < 9.95 ? sprintf("%.1f", x) : sprintf("%.0f", x) }
# One cell at column i, row j of a map.
function cell(map, i, j, operation, q, m, n, k, p,   o, v, f) {
	f = model(operation, q, m, n, k, p)
	o = ours(operation, q, m, n, k, p)
	v = vendor(operation, q, m, n, k, p)
	if (o != "") {
		printf "%d\t%d\t%.6g\t%s\n", i, j, o, short_ratio(o) (v == "" ? "" : " | " short_ratio(v)) >(folder "/" map "_measured.tsv")
		cells[map]++
	}
	if (f != "")
		printf "%d\t%d\t%.6g\t%s\n", i, j, f, short_ratio(f) >(folder "/" map "_predicted.tsv")
	if (i > 1 && last_f != "" && f != "" && (last_f - 1) * (f - 1) < 0)
		printf "%.4g\t%d\n", i - 1 + ln(last_f) / ln(last_f / f), j >(folder "/" map "_even.tsv")
	last_f = f
}
function begin_map(map) {
	print "x\ty\tvalue\tlabel" >(folder "/" map "_measured.tsv")
	print "x\ty\tvalue\tlabel" >(folder "/" map "_predicted.tsv")
	print "x\ty" >(folder "/" map "_even.tsv")
}
function axes(map, title, xlabel, xtics, ylabel, ytics, columns, rows) {
	printf "%s_title = '%s'; %s_x = '%s'; %s_y = '%s'; %s_columns = %d; %s_rows = %d\n", map, title, map, xlabel, map, ylabel, \
		map, columns, map, rows >(folder "/maps.gp")
	printf "%s_axes = \"set xtics (%s); set ytics (%s)\"\n", map, xtics, ytics >(folder "/maps.gp")
	if (cells[map])
		maps++
	printf "%s_drawn = %d\n", map, (cells[map] > 0) >(folder "/maps.gp")
}
function tic(name, at) { return (at > 1 ? ", " : "") "'" name "' " at }
function part_of_n(x) { return x == 0.125 ? "n/8" : x == 0.25 ? "n/4" : x == 0.5 ? "n/2" : "3n/4" }
# One map: n or n / p in the columns, m / n or k / n in the rows; n, ratio = m / n, d = n / p and place = k / n (k / m for rows)
# where they are fixed.
function map_of(map, title, operation, q, xlabel, columns, ylabel, rows, n, ratio, d, place,   i, j, c, r, nc, nr, p, x, y) {
	begin_map(map)
	nc = split(columns, c, " ")
	nr = split(rows, r, " ")
	for (j = 1; j <= nr; j++) {
		last_f = ""
		for (i = 1; i <= nc; i++) {
			n = xlabel == "n" ? c[i] + 0 : n
			ratio = ylabel == "m" ? r[j] + 0 : ratio
			place = ylabel == "k" ? r[j] + 0 : place
			p = int(n / (xlabel == "p" ? c[i] : d))
			cell(map, i, j, operation, q, ratio * n, n, place_of(operation, place, ratio * n, n, p), p)
		}
		y = y tic(ylabel == "m" ? r[j] "n" : part_of_n(r[j]), j)
	}
	for (i = 1; i <= nc; i++)
		x = x tic(xlabel == "n" ? c[i] : part_name(c[i]), i)
	axes(map, title, xlabel, x, ylabel, y, nc, nr)
}
# k is a part of n for columns, of m for rows.
function place_of(operation, place, m, n, p,   whole, last) {
	whole = operation ~ /rows/ ? m : n
	last = operation == "remove_columns" ? n - p : operation == "remove_rows" ? m - p : whole
	return int(place * whole) < last ? int(place * whole) : last
}
function write_maps() {
	map_of("places", "Remove p columns at k, R and d, 19200 x 2400", "remove_columns", "none", "p", "64 16 8 4", "k", "0.125 0.25 0.5 0.75", 2400, 8)
	map_of("sizes", "Remove n/16 columns at n/4, R and d", "remove_columns", "none", "n", "600 1200 2400 4000", "m", "2 8 32", "", "", 16, 0.25)
	map_of("columns", "Add p columns at the end, thin Q, n = 2400", "add_columns", "thin", "p", "64 16 4", "m", "2 4 8", 2400, "", "", 1)
	map_of("rows", "Add p rows, R and d, n = 2400", "add_rows", "none", "p", "64 4 1", "m", "2 8 32", 2400, "", "", 0.5)
	map_of("gone", "Remove p rows, full Q, n = 1200", "remove_rows", "full", "p", "64 16 8", "m", "2 4", 1200, "", "", 0.5)
	map_of("lost", "Remove p rows, R and d, n = 2400", "remove_rows", "none", "p", "64 16 4", "m", "2 8", 2400, "", "", 0.5)
}

# ---- every point ----

function each_point(   i, f) {
	for (i = 1; i <= keys; i++) {
		split(key[i], f, SUBSEP)
		if (f[3] != "update")
			continue
		points++
		point_operation[points] = f[1]
		point_q[points] = f[2]
		point_n[points] = f[5]
		point_m[points] = f[4]
		point_k[points] = f[6]
		point_p[points] = f[7]
		point_ours[points] = ours(f[1], f[2], f[4], f[5], f[6], f[7])
		point_vendor[points] = vendor(f[1], f[2], f[4], f[5], f[6], f[7])
		point_model[points] = model(f[1], f[2], f[4], f[5], f[6], f[7])
	}
}
function write_choice(   i, out) {
	for (i = 1; i <= points; i++)
		if (point_ours[i] != "" && point_model[i] != "") {
			out = folder "/choice_" point_operation[i] ".tsv"
			if (!(out in begun))
				print "predicted\tmeasured" >out
			begun[out] = 1
			printf "%.6g\t%.6g\n", point_model[i], point_ours[i] >out
		}
}

# ---- words ----

function words_of(operation, q,   host) {
	host = sub(/ host$/, "", q)
	gsub(/_/, " ", operation)
	return operation (q == "none" ? ", R and d" : ", " q " Q") (host ? ", host" : "")
}
# Least, median and largest speedup of a change, of all points or of those that `where` names; with `goal` also the percentage
# that reaches it.
function spread(operation, q, which, where, goal,   i, list, n, x, v, reach) {
	for (i = 1; i <= points; i++) {
		v = which == "ours" ? point_ours[i] : point_vendor[i]
		if (point_operation[i] == operation && point_q[i] == q && v != "" && is_where(i, where)) {
			list = list " " v
			reach += v >= goal
		}
	}
	n = ascending(list, x)
	return (n ? short_ratio(x[1]) "|" short_ratio(x[int((n + 1) / 2)]) "|" short_ratio(x[n]) : "-|-|-") \
		(goal == "" ? "" : "|" (n ? percent(reach / n, "%.0f") : "-"))
}
function is_where(i, where,   m, n, k, p) {
	m = point_m[i]; n = point_n[i]; k = point_k[i]; p = point_p[i]
	return where == "" || (where == "p <= n/4, n/8 <= k <= 3n/4" && p <= n / 4 && k >= int(n / 8) && k <= 3 * n / 4) || \
		(where == "k >= n/4" && k >= int(n / 4)) || (where == "k = n, m <= 4n, p <= n/16" && k == n && m <= 4 * n && p <= n / 16) || \
		(where == "m >= 8n, p <= n/4" && m >= 8 * n && p <= n / 4) || (where == "m <= 4n, p <= n/16" && m <= 4 * n && p <= n / 16)
}
# A goal from the paper's results or conclusions, and the speedups reached.
function goal_row(operation, q, where, goal,   part) {
	part = spread(operation, q, "vendor", where, goal)
	if (part !~ /^-/)
		table_row("", words_of(operation, q) "|" where "|" (goal == 1 ? "faster" : goal) "|" part "|" spread(operation, q, "ours", where, goal))
}
function goal_table(   i, host) {
	table_start("update-goals", "Speedup over factorizing again with cuSOLVER and with our routines, and the share of points that reach the paper's", \
		"<change|<where|>goal|>least|>median|!>largest|>reach, %|!>ours, least|>ours|!>ours, largest|!>reach, %")
	for (i = 0; i < 2; i++) {
		host = i ? " host" : ""
		goal_row("remove_columns", "none" host, "p <= n/4, n/8 <= k <= 3n/4", 13.5)
		goal_row("remove_columns", "none" host, "k >= n/4", 1)
		goal_row("add_columns", "thin" host, "k = n, m <= 4n, p <= n/16", 5)
		goal_row("add_rows", "none" host, "m >= 8n, p <= n/4", 4)
		goal_row("remove_rows", "full" host, "m <= 4n, p <= n/16", 1)
	}
	table_end()
}
# How good the model's choices were, in a line or in a paragraph.
function say_update_choices(   i) {
	for (i = 1; i <= D["rows"]; i++)
		if (D[i, "operation"] == "all" && short == "yes")
			item("QR updating: the model's choice to update or factorize again is right at " percent(D[i, "right"]) " % of " \
				D[i, "points"] " points")
		else if (D[i, "operation"] == "all")
			paragraph("Before the runs, the model chose the faster method in " percent(D[i, "right"]) " % of " D[i, "points"] " cases, of which " \
				D[i, "even"] " lie within a factor of two of break-even; its choices cost " percent(D[i, "cost"], "%.2f") \
				" % more than the faster method on average and " percent(D[i, "cost_worst"]) " % at worst. Always updating costs " \
				percent(D[i, "always"], "%.0f") " % more, never updating " percent(D[i, "never"], "%.0f") \
				" %. The median error of predicted updates is " percent(D[i, "error_update"]) " %. fathom advise update answers for one case.")
}
function update_choice_table(   i, c) {
	table_start("update-decisions", "The model's choices, their extra time over the faster method, and that of always or never updating (even: within 2x)", \
		"<change|<Q|<from|>points|>even|>error, %|!>of factorizing, %|>right, %|>cost, %|>worst, %|>always|!>worst, %|>never|!>worst, %")
	for (i = 1; i <= D["rows"]; i++) {
		c = D[i, "operation"]
		gsub(/_/, " ", c)
		table_row(D[i, "operation"] == "all" ? "sum" : "", c "|" D[i, "q"] "|" D[i, "from"] "|" D[i, "points"] "|" D[i, "even"] "|" \
			percent(D[i, "error_update"]) "|" percent(D[i, "error_refactor"]) "|" percent(D[i, "right"]) "|" \
			percent(D[i, "cost"]) "|" percent(D[i, "cost_worst"]) "|" percent(D[i, "always"], "%.0f") "|" \
			percent(D[i, "always_worst"], "%.0f") "|" percent(D[i, "never"], "%.0f") "|" percent(D[i, "never_worst"], "%.0f"))
	}
	table_end()
}
function ratio_table(   o, q, c, i) {
	table_start("update-ratios", "Speedup of updating over factorizing again, all points: least, median, largest", \
		"<change|>ours, least|>median|>largest|>cuSOLVER, least|>median|>largest")
	split("remove_columns add_columns add_rows remove_rows", o, " ")
	split("none,thin,full,none host,thin host,full host", q, ",")
	for (c = 1; c <= 4; c++)
		for (i = 1; i <= 6; i++)
			if (spread(o[c], q[i], "ours") !~ /^-/)
				table_row("", words_of(o[c], q[i]) "|" spread(o[c], q[i], "ours") "|" spread(o[c], q[i], "vendor"))
	table_end()
}
BEGIN {
	if (!load(data "/update.tsv", M) || !load(data "/update_predictions.tsv", P))
		exit
	collect()
	each_point()
	if (!points)
		exit
	if (table == "yes") {
		decided = load(data "/update_or_refactor.tsv", D)
		if (decided)
			say_update_choices()
		goal_table()
		ratio_table()
		if (decided)
			update_choice_table()
	} else if (short == "yes") {
		if (load(data "/update_or_refactor.tsv", D))
			say_update_choices()
	} else {
		write_maps()
		write_choice()
		if (maps)
			print maps
	}
}
