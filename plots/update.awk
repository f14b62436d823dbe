# SPDX-License-Identifier: MIT
# Update a QR factorization or factorize again, from DATA/update.tsv and DATA/update_predictions.tsv:
#   awk -v data=DATA -f common.awk -f update.awk with
#   -v folder=WORK   writes MAP_{measured,predicted}.tsv (x, y, value, label), MAP_even.tsv (x, y, dx, dy: edges
#                    of cells, predicted break-even), MAP.gp (axes) and choice_CHANGE.tsv (predicted, measured); prints the number of maps
#   -v table=yes     prints the answer, the decisions and the ratios as markup
#   -v answer=yes    prints how often updating is faster, by change
function terms_of(operation, q, m, n, p,   host) { # q: none, thin or full; "none host" for a matrix in host memory
	host = sub(/ host$/, "", q)
	return "executor=cuda precision=s operation=" operation " q=" q " from=" (host ? "host" : "") " m=" m " n=" n " p=" p
}
# Speedup of updating over another method, "" when not known.
function over(kind, way, terms, k,   a, b) {
	a = first_with(terms " kind=" kind " variant=" way, "seconds")
	b = first_with(terms " kind=" kind " variant=update k=" k, "seconds")
	return a && b ? T[a, "seconds"] / T[b, "seconds"] : ""
}
function ours(terms, k) { return over("measured", "refactor", terms, k) }
function vendor(terms, k) { return over("measured", "cusolver", terms, k) }
function model(terms, k) { return over("predicted", "refactor", terms, k) }

# ---- maps ----

function part_name(d) { return d == 1 ? "n" : "n/" d }
function short_ratio(x) { return x == "" ? "" : x < 9.95 ? sprintf("%.1f", x) : sprintf("%.0f", x) }
# One cell at column i, row j of a map.
function cell(map, i, j, terms, k,   o, v, f) {
	f = model(terms, k)
	o = ours(terms, k)
	v = vendor(terms, k)
	if (o != "") {
		printf "%d\t%d\t%.6g\t%s\n", i, j, o, short_ratio(o) (v == "" ? "" : " | " short_ratio(v)) >(folder "/" map "_measured.tsv")
		cells[map]++
	}
	if (f != "")
		printf "%d\t%d\t%.6g\t%s\n", i, j, f, short_ratio(f) >(folder "/" map "_predicted.tsv")
	if (breaks_even(f, i > 1 ? cell_left : ""))
		printf "%g\t%g\t0\t1\n", i - 0.5, j - 0.5 >(folder "/" map "_even.tsv")
	if (breaks_even(f, j > 1 ? cell_below[i] : ""))
		printf "%g\t%g\t1\t0\n", i - 0.5, j - 0.5 >(folder "/" map "_even.tsv")
	cell_left = cell_below[i] = f
}
function breaks_even(f, other) { return f != "" && other != "" && (f - 1) * (other - 1) < 0 }
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
	begin_series(map "_measured", "x y value label")
	begin_series(map "_predicted", "x y value label")
	begin_series(map "_even", "x y dx dy")
	nc = split(columns, c, " ")
	nr = split(rows, r, " ")
	for (j = 1; j <= nr; j++) {
		for (i = 1; i <= nc; i++) {
			n = xlabel == "n" ? c[i] + 0 : n
			ratio = ylabel == "m" ? r[j] + 0 : ratio
			place = ylabel == "k" ? r[j] + 0 : place
			p = int(n / (xlabel == "p" ? c[i] : d))
			cell(map, i, j, terms_of(operation, q, ratio * n, n, p), place_of(operation, place, ratio * n, n, p))
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

function each_point(   i, terms) {
	points = split(rows_with("executor=cuda precision=s kind=measured variant=update"), row, " ")
	for (i = 1; i <= points; i++) {
		terms = "executor=cuda precision=s operation=" T[row[i], "operation"] " q=" field(row[i], "q") " from=" field(row[i], "from") \
			" m=" T[row[i], "m"] " n=" T[row[i], "n"] " p=" T[row[i], "p"]
		speedup["ours", i] = ours(terms, T[row[i], "k"])
		speedup["vendor", i] = vendor(terms, T[row[i], "k"])
		speedup["model", i] = model(terms, T[row[i], "k"])
	}
}
function write_choice(   i) {
	for (i = 1; i <= points; i++)
		if (speedup["ours", i] != "" && speedup["model", i] != "")
			point("choice_" T[row[i], "operation"], "predicted measured", sprintf("%.6g %.6g", speedup["model", i], speedup["ours", i]))
}

# ---- words ----

function number(x) { return is_number(x) ? x + 0 : 0 }
function words_of(operation, q,   host) {
	host = sub(/ host$/, "", q)
	gsub(/_/, " ", operation)
	return operation (q == "none" ? ", R and d" : ", " q " Q") (host ? ", host" : "")
}
# Least, median and largest speedup of a change, of all points or of those that `where` names; with `goal` also the percentage
# that reaches it.
function spread(operation, q, which, where, goal,   i, list, n, x, v, reach, host) {
	host = sub(/ host$/, "", q) ? "host" : ""
	for (i = 1; i <= points; i++) {
		v = speedup[which, i]
		if (T[row[i], "operation"] == operation && field(row[i], "q") == q && field(row[i], "from") == host && v != "" && is_where(row[i], where)) {
			list = list " " v
			reach += v >= goal
		}
	}
	n = ascending(list, x)
	return (n ? short_ratio(x[1]) "|" short_ratio(x[int((n + 1) / 2)]) "|" short_ratio(x[n]) : "-|-|-") \
		(goal == "" ? "" : "|" (n ? percent(reach / n, "%.0f") : "-"))
}
function is_where(i, where,   m, n, k, p) {
	m = T[i, "m"] + 0
	n = T[i, "n"] + 0
	k = number(T[i, "k"])
	p = T[i, "p"] + 0
	return where == "" || (where == "p <= n/4, n/8 <= k <= 3n/4" && p <= n / 4 && k >= int(n / 8) && k <= 3 * n / 4) || \
		(where == "k >= n/4" && k >= int(n / 4)) || (where == "k = n, m <= 4n, p <= n/16" && k == n && m <= 4 * n && p <= n / 16) || \
		(where == "m >= 8n, p <= n/4" && m >= 8 * n && p <= n / 4) || (where == "m <= 4n, p <= n/16" && m <= 4 * n && p <= n / 16)
}
function vendors_work() {
	return "All times include the solution. cuSOLVER's are of geqrf, ormqr and trsm, which form no Q. Ours keep the same Q as the update."
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
	table_end(vendors_work())
}
# How good the model's choices were.
function say_update_choices(   i) {
	for (i = 1; i <= D["rows"] && D[i, "operation"] != "all"; i++)
		;
	if (i <= D["rows"])
		paragraph("Before the runs, the model chose the faster method in " percent(D[i, "right"]) " % of " D[i, "points"] " cases, of which " \
			D[i, "even"] " lie within a factor of two of break-even; its choices cost " percent(D[i, "cost"], "%.2f") \
			" % more than the faster method on average and " percent(D[i, "cost_worst"]) " % at worst. Always updating costs " \
			percent(D[i, "always"], "%.0f") " % more, never updating " percent(D[i, "never"], "%.0f") \
			" %. The median error of predicted updates is " percent(D[i, "error_update"]) " %. fathom advise update answers for one case.")
}
function update_choice_table(   i, c) {
	table_start("update-decisions", "The model's choices, their extra time over the faster method, and that of always or never updating (even: within 2x)", \
		"<change|<Q|<from|>points|>even|>error, %|!>of factorizing, %|>right, %|>cost, %|>worst, %|>always, %|!>worst, %|>never, %|!>worst, %")
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
	table_end(vendors_work())
}
# Of all points of a change: how many, the share that updating makes faster, and the largest speedup.
function pays(operation, which,   i, n, faster, largest, v) {
	for (i = 1; i <= points; i++) {
		v = speedup[which, i]
		if (T[row[i], "operation"] != operation || v == "")
			continue
		n++
		faster += v > 1
		largest = v > largest ? v : largest
	}
	return n ? percent(faster / n, "%.0f") " % of " n " cases, up to " short_ratio(largest) " times" : "no case"
}
function say_whether_it_pays(   c, change, words) {
	split("remove_columns add_columns add_rows remove_rows", change, " ")
	split("columns removed,columns added,rows added,rows removed", words, ",")
	paragraph("Andrew and Dingle found speedups over a new QR of up to 13.5 for columns removed, 3.5 for few columns added at the end, nearly 2 for" \
		" rows added to tall matrices, and below 1 for most rows removed. Here, with our routines for both:")
	for (c = 1; c <= 4; c++)
		item(words[c] ": updating is faster in " pays(change[c], "ours") "; than a new QR by cuSOLVER, which forms no Q, in " pays(change[c], "vendor") ".")
}
# The paper's cure for many small kernels: the GPU launches them (dynamic parallelism). Rows removed its way, from update_paper.tsv.
function say_device_launches(   launch, tail, row, terms, host, own) {
	if (!read_profile(data "/profile.tsv") || (tail = value("gpu.launch.device.tail")) == "" || !load(data "/update_paper.tsv", T, "paper"))
		return
	split("", with_terms)
	launch = value("gpu.launch.stream")
	row = first_with("kind=paper executor=model launch=device", "seconds")
	if (!row || launch == "")
		return
	terms = "kind=paper executor=cuda phase= operation=" T[row, "operation"] " m=" T[row, "m"] " n=" T[row, "n"] " p=" T[row, "p"]
	host = first_with(terms " variant=paper", "seconds")
	own = first_with(terms " variant=update", "seconds")
	paragraph("Would kernels launched by the GPU help, as the paper proposes? A kernel in the tail stream of another takes " with_unit(tail, "s") \
		" to the next, and " with_unit(value("gpu.launch.device.chain"), "s") " where each launches the next; a kernel that the host launches takes " \
		with_unit(launch, "s") (value("gpu.launch.device.host") == "" ? "" : ", on the device " with_unit(value("gpu.launch.dependent"), "s") \
		", and " with_unit(value("gpu.launch.device.host"), "s") " in a process that has loaded the runtime of such launches") ". Independent kernels start every " with_unit(value("gpu.launch.device.fire"), "s") ". By the model " \
		T[row, "p"] " rows removed from " T[row, "m"] " x " T[row, "n"] " by the paper's rotations take " with_unit(T[row, "seconds"], "s") \
		" with tail launches" (host ? ", against " with_unit(T[host, "seconds"], "s") " measured with launches by the host" : "") \
		(own ? " and " with_unit(T[own, "seconds"], "s") " measured with our kernels, which sweep a band each" : "") ".")
}
BEGIN {
	load(data "/update.tsv", T, "measured")
	if (!load(data "/update_predictions.tsv", T, "predicted") || !rows_with("kind=measured"))
		exit
	each_point()
	if (!points)
		exit
	load(data "/decisions.tsv", D)
	if (answer == "yes") {
		say_whether_it_pays()
		say_update_choices()
		say_device_launches()
	} else if (table == "yes") {
		say_update_choices()
		goal_table()
		ratio_table()
		update_choice_table()
	} else {
		write_maps()
		write_choice()
		if (maps)
			print maps
	}
}
