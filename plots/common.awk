# SPDX-License-Identifier: MIT
# Shared by the report's awk programs: reading tables and profiles, numbers with units, markup.

# LAWN 202's fastest GPU, in data/papers and in tables.
BEGIN {
	LAWN_GPU = "8800gtx"
	LAWN_NAME = "8800GTX"
}

function is_number(x) { return x ~ /^[-+]?[0-9.]/ }
function is_time(x) { return is_number(x) && x + 0 > 0 }

# ---- tables: T["rows"], T[row, column], T["meta", key] ----

# Reads a table; with a kind appends its rows, with that text in the column "kind".
function load(file, T, kind,   line, cell, n, i, columns, at, rows, column) {
	if (kind == "")
		split("", T)
	rows = T["rows"]
	while ((getline line <file) > 0) {
		if (line ~ /^#/) {
			at = index(line, ": ")
			if (at)
				T["meta", substr(line, 3, at - 3)] = substr(line, at + 2)
			continue
		}
		n = split(line, cell, "\t")
		if (!columns) {
			columns = n
			for (i = 1; i <= n; i++)
				column[i] = cell[i]
			continue
		}
		rows++
		for (i = 1; i <= n; i++)
			T[rows, column[i]] = cell[i]
		if (kind != "")
			T[rows, "kind"] = kind
	}
	close(file)
	T["rows"] = rows + 0
	return columns > 0
}

# What follows the text at the begin of a line, "" without: of a key in a file's first lines, of a fact in machine.tsv.
function text_behind(file, start,   line, text) {
	text = ""
	while (text == "" && (getline line <file) > 0 && (line ~ /^#/ || start !~ /^#/))
		if (index(line, start) == 1)
			text = substr(line, length(start) + 1)
	close(file)
	return text
}
function head_of(file, key) { return text_behind(file, "# " key ": ") }
function fact_in(file, key) { return text_behind(file, key "\t") }

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
# The numbers of a text, ascending, into n; returns how many.
function ascending(text, n,   count, gap, i, j, x) {
	count = split(text, n, " ")
	for (gap = int(count / 2); gap > 0; gap = int(gap / 2))
		for (i = gap + 1; i <= count; i++) {
			x = n[i]
			for (j = i - gap; j > 0 && n[j] + 0 > x + 0; j -= gap)
				n[j + gap] = n[j]
			n[j + gap] = x
		}
	return count
}

# ---- rows of T by their cells: "operation=gemm trans=nn" ----

# A term's key is a column, one of the options, or square: whether m = n (1 or 0).
function field(i, key) {
	return (i, key) in T ? T[i, key] : key == "square" ? "" (T[i, "m"] == T[i, "n"]) : option(T[i, "options"], key)
}
# Their numbers, ascending, as text.
function rows_with(terms,   at, count, list, i, key, text, found) {
	if (terms in with_terms)
		return with_terms[terms]
	at = match(terms, / [^ ]*$/)
	count = terms == "" ? T["rows"] : split(rows_with(substr(terms, 1, at > 0 ? at - 1 : 0)), list, " ")
	text = substr(terms, at > 0 ? at + 1 : 1)
	key = substr(text, 1, index(text, "=") - 1)
	text = substr(text, length(key) + 2)
	for (i = 1; i <= count; i++)
		if (terms == "")
			found = found " " i
		else if (field(list[i], key) == text)
			found = found " " list[i]
	return with_terms[terms] = found
}
# One of them, 0 without any: the first with a number in a column, the one with the largest, the one that took least time.
function first_with(terms, key,   list, n, i) {
	n = split(rows_with(terms), list, " ")
	for (i = 1; i <= n && !is_number(T[list[i], key]); i++)
		;
	return i <= n ? list[i] + 0 : 0
}
function greatest(terms, key,   list, n, i, row) {
	n = split(rows_with(terms), list, " ")
	for (i = 1; i <= n; i++)
		if (T[list[i], key] > 0 && (!row || T[list[i], key] + 0 > T[row, key] + 0))
			row = list[i] + 0
	return row + 0
}
function fastest(terms,   list, n, i, row) {
	n = split(rows_with(terms), list, " ")
	for (i = 1; i <= n; i++)
		if (is_time(T[list[i], "seconds"]) && (!row || T[list[i], "seconds"] + 0 < T[row, "seconds"] + 0))
			row = list[i] + 0
	return row + 0
}
# The different numbers in a column of these rows, ascending, into n; returns how many.
function numbers_of(terms, key, n,   list, count, i, seen, text) {
	count = split(rows_with(terms), list, " ")
	for (i = 1; i <= count; i++)
		if (is_number(field(list[i], key)) && !((field(list[i], key) + 0) in seen)) {
			seen[field(list[i], key) + 0] = 1
			text = text " " field(list[i], key) + 0
		}
	return ascending(text, n)
}
# The cells of columns "FORMAT TERM..." between bars, each from the rows with all the terms.
function line_of(terms, columns,   n, i, column, text) {
	n = split(columns, column, "|")
	for (i = 1; i <= n; i++)
		text = text "|" one_cell(terms, column[i])
	return text
}
function one_cell(terms, column,   at, format, row) {
	at = index(column " ", " ")
	format = substr(column, 1, at - 1)
	terms = terms substr(column, at)
	row = format == "top" ? greatest(terms, "gflops") : format == "error" ? first_with(terms, "residual") : fastest(terms)
	if (row && format == "both") # milliseconds, predicted and measured
		return (is_time(T[row, "predicted"]) ? significant(T[row, "predicted"] * 1e3, 3) : "-") " / " significant(T[row, "seconds"] * 1e3, 3)
	return !row ? "-" : format == "top" ? sprintf("%.1f", T[row, "gflops"] * 1e-3) : format == "error" ? significant(T[row, "residual"], 3) : \
		format == "us" ? significant(T[row, "seconds"] * 1e6, 3) : format == "gflops" ? significant(T[row, "gflops"], 3) : \
		significant(T[row, "gflops"] * 1e-3, 3)
}

# ---- series ----

# The largest value at x of a series: kept[series, x], x_of[series].
function keep(series, x, value) {
	if (!((series, x) in kept))
		x_of[series] = x_of[series] " " x
	if (!((series, x) in kept) || value > kept[series, x])
		kept[series, x] = value
}
# Files of series for gnuplot, folder/NAME.tsv, which begin with their columns; series counts them.
function begin_series(name, columns) {
	gsub(/ /, "\t", columns)
	if (!(name in begun))
		print columns >(folder "/" name ".tsv")
	series += !(name in begun)
	begun[name] = 1
}
function point(name, columns, values) {
	begin_series(name, columns)
	gsub(/ /, "\t", values)
	print values >(folder "/" name ".tsv")
}
function write_kept(name, columns,   count, n, j) {
	count = ascending(x_of[name], n)
	for (j = 1; j <= count; j++)
		point(name, columns, sprintf("%d %.6g", n[j], kept[name, n[j]]))
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
function noisy(name) { return P[row_of[name], "status"] == "noisy" }
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
# The next power of two of operations per SM and cycle: the width of the units.
function units(rate,   cycles, width) {
	cycles = sm_count() * value("gpu.clock.sm")
	for (width = 1; cycles > 0 && width * cycles < rate * 0.99; width *= 2)
		;
	return cycles > 0 && rate > 0 ? width * cycles : ""
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
# In a table of different units counts and ratios are named, too.
function valued(x, unit) { return with_unit(x, unit) (is_number(x) && unit ~ /^(count|ratio)$/ ? " " unit : "") }
# Both ends of an interval in the unit of the value.
function interval(low, high, x, unit,   part) {
	if (!is_number(x))
		return "-"
	split(scale(x + 0, unit), part, " ")
	return (is_number(low) ? significant(low * part[1], digits(unit)) : low) " .. " \
		(is_number(high) ? significant(high * part[1], digits(unit)) : high == "inf" ? "unbounded" : high)
}
function magnitude(x) { return x < 0 ? -x : x }
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
# Whether a verdict judges the model.
function judges(verdict) { return verdict != "SKIPPED" && verdict != "DISTURBED" }
function percent(x, format) { return is_number(x) ? sprintf(format == "" ? "%.1f" : format, 100 * x) : "-" }
function plural(n, word) { return n " " word (n == 1 ? "" : "s") }
function base_of_path(path) {
	sub(/.*\//, "", path)
	return path
}
# A parameter with its value, for sentences.
function cited(name,   row, unit) {
	row = row_of[name]
	unit = P[row, "unit"]
	return name " = " with_unit(value(name), unit) (P[row, "low"] + 0 < P[row, "high"] + 0 ? \
		" (" interval(P[row, "low"], P[row, "high"], value(name), unit) ")" : "")
}

# ---- markup: one tagged line each, for text.awk and html.awk ----
# H1 to H3, P, NOTE, LI (text, link), FIG (name, text, and a link and a name for each file of its data), TABLE, ROW, END; DETAILS to
# ENDDETAILS: folded in the page, not in the text; FOLD to ENDDETAILS: folded in the page; DIV to ENDDIV: a part of the page. BAR
# (title, value, interval, share of a limit, shares of other machines, limit), SPREAD (title, text, shares within 5, 10 and 20 %),
# PARAMETERS (id, profile).
# A table's columns: "<name" left, ">name" right, and a leading "!" leaves it out of the text.

function heading(level, id, text) { print "H" level "\t" id "\t" text }
function paragraph(text) { print "P\t" text }
function note(text) { print "NOTE\t" text }
function item(text) { print "LI\t" text }
# A design rule and the parameters that it rests on: a row at the end of the file rules_table, and an item but with rules_as=table.
# rule_item takes the first number from first_* and the gain from X.
function plain_rule(part, name, text, list) {
	first_value = first_low = first_high = first_unit = X = X_low = X_high = ""
	rule_item(part, name, text, list)
}
function rule_item(part, name, text, list,   n, parameter, i, rests) {
	print part "\t" name "\t" number_or_nan(first_value) "\t" number_or_nan(first_low) "\t" number_or_nan(first_high) "\t" \
		(first_unit == "" ? "nan" : first_unit) "\t" number_or_nan(X) "\t" number_or_nan(X_low) "\t" number_or_nan(X_high) "\t" \
		text "\t" (list == "" ? "nan" : list) >>rules_table
	if (rules_as == "table")
		return
	n = split(list, parameter, " ")
	for (i = 1; i <= n; i++)
		rests = rests (i > 1 ? "; " : "") cited(parameter[i])
	item(name ": " text (rests == "" ? "" : " [" rests "]"))
}
function number_or_nan(x) { return x == "" ? "nan" : sprintf("%.9g", x) }
# The table appears with its first row, the text behind its last one.
function table_start(id, caption, columns) {
	gsub(/\|/, "\t", columns)
	table_head = "TABLE\t" id "\t" caption "\t" columns
}
function table_row(class, cells) {
	gsub(/\|/, "\t", cells)
	table_line(class, cells)
}
function table_line(class, cells) { # with tabs between them
	if (table_head != "")
		print table_head
	table_head = ""
	print "ROW\t" class "\t" cells
}
function table_end(text) {
	if (table_head == "")
		print "END" (text == "" ? "" : "\nP\t" text)
	table_head = ""
}
function details(title) { print "DETAILS\t" title }
function details_end() { print "ENDDETAILS" }
# A table with a column for each size: its cells in any order, then the table, ascending; its rows in the order of the cells.
function add_cell(name, n, text) {
	if (!(name in row_known))
		row_name[++row_names] = name
	if (!(n in column_known))
		columns_known = columns_known " " n
	row_known[name] = column_known[n] = 1
	cell_at[name, n] = text
}
function print_cells(id, caption,   r, c, count, n, head, cells) {
	count = ascending(columns_known, n)
	for (c = 1; c <= count; c++)
		head = head "|>" n[c]
	table_start(id, caption, "<n" head)
	for (r = 1; r <= row_names; r++) {
		cells = row_name[r]
		for (c = 1; c <= count; c++)
			cells = cells "|" ((row_name[r], n[c]) in cell_at ? cell_at[row_name[r], n[c]] : "-")
		table_row("", cells)
	}
	table_end()
	columns_known = ""
	row_names = split("", row_known) + split("", column_known) + split("", cell_at)
}
