# SPDX-License-Identifier: MIT
# Shared by the report's awk programs: reading tables and profiles, numbers with units, markup.

function is_number(x) { return x ~ /^[-+]?[0-9.]/ }
function is_time(x) { return is_number(x) && x + 0 > 0 }

# ---- tables: T["rows"], T[row, column], T["meta", key], T["column", i] ----

function load(file, T,   line, cell, n, i, rows, at) {
	split("", T)
	rows = 0
	while ((getline line <file) > 0) {
		if (line ~ /^#/) {
			at = index(line, ": ")
			if (at)
				T["meta", substr(line, 3, at - 3)] = substr(line, at + 2)
			continue
		}
		n = split(line, cell, "\t")
		if (!T["columns"]) {
			T["columns"] = n
			for (i = 1; i <= n; i++)
				T["column", i] = cell[i]
			continue
		}
		rows++
		for (i = 1; i <= n; i++)
			T[rows, T["column", i]] = cell[i]
	}
	close(file)
	T["rows"] = rows
	return T["columns"] > 0
}

# The value of "KEY=" in a row's options, "" when they have none.
function option(text, key,   at) {
	text = "," text
	at = index(text, "," key "=")
	if (!at)
		return ""
	text = substr(text, at + length(key) + 2)
	sub(/,.*/, "", text)
	return text
}
# Puts x in its place among list[1..n], ascending; returns their new number.
function insert(list, n, x,   j) {
	for (j = n; j > 0 && list[j] + 0 > x + 0; j--)
		list[j + 1] = list[j]
	list[j + 1] = x
	return n + 1
}
# The numbers of a text, ascending, into n; returns how many.
function ascending(text, n,   count, i, each) {
	split("", n)
	count = split(text, each, " ")
	for (i = 1; i <= count; i++)
		insert(n, i - 1, each[i])
	return count
}

# Files of series for gnuplot in `folder`: makes `out` the one of this name, with its columns in the first line.
function begin_series(name, columns) {
	out = folder "/" name ".tsv"
	if (out in begun)
		return
	gsub(/ /, "\t", columns)
	print columns >out
	begun[out] = 1
	series++
}
function text_of(x) { return is_time(x) ? sprintf("%.6g", x) : "NaN" }
# A paper's numbers, by name, from papers/NAME.tsv into `paper`.
function read_paper(name,   file, line, cell) {
	file = papers "/" name ".tsv"
	while ((getline line <file) > 0)
		if (line !~ /^#/ && split(line, cell, "\t") > 1)
			paper[cell[1]] = cell[2]
	close(file)
}

# ---- the profile: P[row, column], and by name ----

# base_of[row] is a parameter's name without its arguments, rows_of[name] the rows of a function.
function read_profile(file,   i) {
	split("", row_of)
	split("", rows_of)
	if (!load(file, P))
		return 0
	for (i = 1; i <= P["rows"]; i++) {
		row_of[P[i, "parameter"]] = i
		base_of[i] = base_name(P[i, "parameter"])
		rows_of[base_of[i]] = rows_of[base_of[i]] " " i
	}
	return 1
}
# A parameter's value, "" when it is not there or failed.
function value(name) {
	return name in row_of && P[row_of[name], "status"] != "failed" && is_number(P[row_of[name], "value"]) ? \
		P[row_of[name], "value"] + 0 : ""
}
function argument(name, key,   at, text) {
	at = index(name, "[")
	text = "," substr(name, at + 1)
	at = index(text, "," key "=")
	if (!at)
		return ""
	text = substr(text, at + length(key) + 2)
	sub(/[],].*/, "", text)
	return text + 0
}
function base_name(name) {
	sub(/\[.*/, "", name)
	return name
}
# The usable row of a function whose argument lies nearest to `wanted` (by ratio); other must occur in
# its brackets.
function nearest(name, key, wanted, other,   i, n, list, row, x, far, best, least) {
	n = split(rows_of[name], list, " ")
	for (i = 1; i <= n; i++) {
		row = P[list[i], "parameter"]
		if (value(row) == "" || (other != "" && !index(row, other)))
			continue
		x = argument(row, key)
		if (x == "" || x <= 0)
			continue
		far = x > wanted ? x / wanted : wanted / x
		if (best == "" || far < least) {
			best = row
			least = far
		}
	}
	return best
}
# The usable row of a function with the largest value of an argument; other must occur in its brackets. "" without any.
function widest(name, key, other,   i, n, list, row, x, most, best) {
	n = split(rows_of[name], list, " ")
	for (i = 1; i <= n; i++) {
		row = P[list[i], "parameter"]
		x = argument(row, key)
		if (x != "" && (best == "" || x > most) && value(row) != "" && (other == "" || index(row, other))) {
			most = x
			best = row
		}
	}
	return best
}
function sm_count() {
	return value("gpu.sm.count") != "" ? value("gpu.sm.count") : 0
}
# The barrier over one block on every SM: the hand-made counter barrier.
function grid_barrier() {
	return sm_count() ? nearest("gpu.barrier.counter", "blocks", sm_count(), "threads=256") : \
		widest("gpu.barrier.counter", "blocks", "threads=256")
}

# ---- the paper's panel ----

function flops_getrf(m, n) { return m * n * n - n * n * n / 3 - n * n / 2 + 5 * n / 6 }

# LAWN 202 section 3.8, single precision: isamax reads m-j words, sswap moves 4n, sscal 2(m-j-1), sger
# 2(m-j-1)(n-j-1) and its row and column.
function panel_estimate(m, n, alpha, beta,   j, calls, words) {
	for (j = 0; j < n; j++) {
		calls += 3
		words += (m - j) + 4 * n + 2 * (m - j - 1)
		if (j < n - 1) {
			calls++
			words += 2 * (m - j - 1) * (n - j - 1) + (m - j - 1) + (n - j - 1)
		}
	}
	return calls * alpha + 4 * words / beta
}

# ---- numbers ----

function significant(x, digits,   text) {
	x += 0 # text compares as text
	text = sprintf("%." digits "g", x)
	return text ~ /e/ && x < 1e15 && x > -1e15 && (x >= 1 || x <= -1) ? sprintf("%.0f", text + 0) : text
}
# The scale in which a value of this unit reads well: "factor name".
function scale(x, unit,   size) {
	size = x < 0 ? -x : x
	if (unit == "s")
		return size < 9.995e-7 ? "1e9 ns" : size < 9.995e-4 ? "1e6 us" : size < 0.9995 ? "1e3 ms" : "1 s"
	if (unit == "B/s" || unit == "Hz" || unit == "B" || unit == "flop/s")
		return size >= 9.995e11 ? "1e-12 T" unit : size >= 9.995e8 ? "1e-9 G" unit : size >= 9.995e5 ? "1e-6 M" unit : \
			size >= 999.5 ? "1e-3 k" unit : "1 " unit
	return "1 " (unit == "count" || unit == "ratio" ? "" : unit)
}
# Whole numbers of a few thousand are not rounded.
function digits(unit) { return unit == "count" ? 4 : 3 }
function with_unit(x, unit,   part, text) {
	if (!is_number(x))
		return x == "" || x == "nan" ? "-" : x
	x += 0
	split(scale(x, unit), part, " ")
	text = significant(x * part[1], digits(unit))
	return part[2] == "" ? text : text " " part[2]
}
# Both ends of an interval in the unit of the value.
function interval(low, high, x, unit,   part) {
	if (!is_number(x))
		return "-"
	split(scale(x + 0, unit), part, " ")
	return (is_number(low) ? significant(low * part[1], digits(unit)) : low) " .. " \
		(is_number(high) ? significant(high * part[1], digits(unit)) : high)
}
# Awk need not have ^, log, exp and sqrt (busybox).
function cube(x) { return x * x * x }
function root(x,   r, i) {
	r = x > 1 ? x : 1
	for (i = 0; i < 100 && r * r > x; i++)
		r = (r + x / r) / 2
	return r
}
function ln(x,   k, y, power, sum, i) {
	for (k = 0; x > 1.5; k++)
		x /= 2
	for (; x < 0.75; k--)
		x *= 2
	power = y = (x - 1) / (x + 1)
	for (i = 1; i < 30; i += 2) {
		sum += power / i
		power *= y * y
	}
	return 2 * sum + k * 0.6931471805599453
}
function antilog(x,   i, term, sum) {
	x /= 1024
	term = sum = 1
	for (i = 1; i < 20; i++)
		sum += term *= x / i
	for (i = 0; i < 10; i++)
		sum *= sum
	return sum
}
function percent(x, format) { return is_number(x) ? sprintf(format == "" ? "%.1f" : format, 100 * x) : "-" }
function plural(n, word) { return n " " word (n == 1 ? "" : "s") }
# A parameter with its value, for sentences.
function cited(name) { return name " = " with_unit(value(name), P[row_of[name], "unit"]) }

# ---- markup: one tagged line each, for text.awk and html.awk ----
# A table's columns: "<name" left, ">name" right, and a leading "!" leaves it out of the text.

function heading(level, id, text) { print "H" level "\t" id "\t" text }
function paragraph(text) { print "P\t" text }
function note(text) { print "NOTE\t" text }
function item(text) { print "LI\t" text }
function figure(name, text) { print "FIG\t" name "\t" text }
function table_start(id, caption, columns) { gsub(/\|/, "\t", columns); print "TABLE\t" id "\t" caption "\t" columns }
function table_row(class, cells) { gsub(/\|/, "\t", cells); print "ROW\t" class "\t" cells }
function table_end() { print "END" }
