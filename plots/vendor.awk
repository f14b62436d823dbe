# SPDX-License-Identifier: MIT
# Speedup over cuSOLVER, from DATA/bench.tsv: awk -v data=DATA -f common.awk -f bench.awk -f vendor.awk with
#   -v folder=WORK   writes folder/PRECISION_OPERATION_MATH.tsv (n, ratio) and folder/OPERATION_{ours,cusolver}_WIDTH.tsv (m,
#                    us a column of panels); prints the number of series
#   -v table=yes     prints the tables of ratios as markup: squares of powers of two, Cholesky's triangles,
#                    all other shapes
#   -v short=yes     prints a line for each factorization
# Of several plans, algorithms, fill modes and places of panels the fastest counts, on both sides.
function keep(kind, key, x, seconds) {
	if (!(seconds > 0))
		return
	if (!((key, x) in best)) {
		best[key, x] = seconds
		sizes[key] = sizes[key] " " x
		if (!(key in kinds))
			order[++keys] = key
		kinds[key] = kind
	} else if (seconds < best[key, x])
		best[key, x] = seconds
}
# By the default plan, not by the model's plan.
function is_default(i) { return option(T[i, "options"], "plan") == "default" }
function is_ours(variant) { return variant == "gpu" || variant == "hybrid" || variant == "persistent" || variant == "host" }
# Not one run alone, which may have loaded code.
function is_checked(i) { return T[i, "note"] !~ /^one run, not checked/ }
function take_whole(i,   o, p) {
	o = T[i, "operation"]
	p = T[i, "precision"]
	if (!is_checked(i))
		return
	if (is_default(i))
		keep("default", p "_" o "_" T[i, "math"] "+default", T[i, "n"] + 0, T[i, "seconds"])
	else if (is_ours(T[i, "variant"]))
		keep("whole", p "_" o "_" T[i, "math"], T[i, "n"] + 0, T[i, "seconds"])
	else if (T[i, "variant"] == "cusolver")
		keep("vendor", p "_" o, T[i, "n"] + 0, T[i, "seconds"])
}
# Panels: at least sixteen times as long as wide.
function take_panel(i,   o) {
	o = T[i, "operation"] == "panel_getrf" ? "getrf" : T[i, "operation"]
	if (T[i, "precision"] != "s" || T[i, "n"] > 128 || T[i, "m"] < 16 * T[i, "n"] || (o != "getrf" && o != "geqrf"))
		return
	if (is_ours(T[i, "variant"]))
		keep("panel", o "_ours_" T[i, "n"], T[i, "m"] + 0, T[i, "seconds"])
	else if (T[i, "variant"] == "cusolver")
		keep("panel", o "_cusolver_" T[i, "n"], T[i, "m"] + 0, T[i, "seconds"])
}
# Shapes other than squares of powers of two: our fastest time by math, and the vendor's.
function take_other(i,   shape, ours) {
	shape = T[i, "operation"] "|" T[i, "precision"] "|" T[i, "m"] "|" T[i, "n"]
	ours = is_ours(T[i, "variant"]) ? T[i, "math"] : T[i, "variant"] == "cusolver" ? "cusolver" : ""
	if (ours == "" || is_default(i) || !is_checked(i) || !(T[i, "seconds"] > 0))
		return
	if (!(shape in other_shapes)) {
		other_shapes[shape] = 1
		other[++others] = shape
	}
	if (!((shape, ours) in other_best) || T[i, "seconds"] < other_best[shape, ours])
		other_best[shape, ours] = T[i, "seconds"] + 0
}
function vendor_of(key) { # PRECISION_OPERATION_MATH
	return substr(key, 1, 2) substr(key, 3, 5)
}
function ratio(key, n) {
	return (vendor_of(key), n) in best && (key, n) in best ? best[vendor_of(key), n] / best[key, n] : ""
}
function math_of(key) { return substr(key, 9, match(substr(key, 9) "+", /[+]/) - 1) }
function name_of(key) {
	return title_of(substr(key, 3, 5)) (substr(key, 1, 1) == "s" ? ", single" : ", double") \
		(math_of(key) ~ /^fp/ ? "" : ", " math_of(key))
}
function write_series(   i, j, key, count, n, path, amount) {
	for (i = 1; i <= keys; i++) {
		key = order[i]
		if (kinds[key] == "vendor" || kinds[key] == "default")
			continue
		path = folder "/" key ".tsv"
		print (kinds[key] == "panel" ? "m\tus_per_column" : "n\tratio") >path
		count = ascending(sizes[key], n)
		for (j = 1; j <= count; j++) {
			amount = kinds[key] == "whole" ? ratio(key, n[j]) : best[key, n[j]] * 1e6 / substr(key, match(key, /[0-9]+$/))
			if (amount != "")
				printf "%d\t%.6g\n", n[j], amount >path
		}
		close(path)
		written++
	}
	if (written)
		print written
}
# Rows of one table: cell_of[row, n], by name; its columns are the powers of two that any row has.
function add_cell(name, n, text) {
	if (!(name in row_known))
		row[++rows] = name
	row_known[name] = 1
	cell_of[name, n] = text
	column_known[n] = 1
}
function print_cells(id, caption,   r, n, head, cells, any) {
	for (n = 1; n <= 1048576; n *= 2)
		if (n in column_known)
			head = head "|>" n
	if (head != "")
		table_start(id, caption, "<n" head)
	for (r = 1; r <= rows; r++) {
		cells = row[r]
		any = 0
		for (n = 1; n <= 1048576; n *= 2)
			if (n in column_known) {
				cells = cells "|" ((row[r], n) in cell_of ? cell_of[row[r], n] : "-")
				any = any || (row[r], n) in cell_of
			}
		if (any)
			table_row("", cells)
	}
	if (head != "")
		table_end()
	rows = split("", row_known) + split("", cell_of) + split("", column_known)
}
function print_table(kind, id, caption,   i, j, n, count) {
	for (i = 1; i <= keys; i++) {
		count = kinds[order[i]] == kind ? split(sizes[order[i]], n, " ") : 0
		for (j = 1; j <= count; j++)
			if (ratio(order[i], n[j]) != "")
				add_cell(name_of(order[i]), n[j], sprintf("%.2f", ratio(order[i], n[j])))
	}
	print_cells(id, caption)
}
function print_others(   i, j, count, math, part, theirs, started) {
	count = split("fp32 fp64 3xtf32 3xfp16", math, " ")
	for (i = 1; i <= others; i++) {
		theirs = other_best[other[i], "cusolver"]
		for (j = 1; j <= count; j++) {
			if (!(theirs > 0) || !((other[i], math[j]) in other_best))
				continue
			if (!started++)
				table_start("vendor-others", "Speedup over cuSOLVER: other shapes, and panels of LU alone", \
					"<factorization|>m|>n|<math|>ours|>cuSOLVER|>speedup")
			split(other[i], part, "|")
			table_row("", (part[1] == "panel_getrf" ? "LU panel" : title_of(part[1])) "|" part[3] "|" part[4] "|" math[j] "|" \
				with_unit(other_best[other[i], math[j]], "s") "|" with_unit(theirs, "s") "|" \
				sprintf("%.2f", theirs / other_best[other[i], math[j]]))
		}
	}
	if (started)
		table_end()
}
# Cholesky of the upper triangle against the same plan with the lower one.
function take_triangle(i,   j, options) {
	options = T[i, "options"]
	if (T[i, "operation"] != "potrf" || !is_ours(T[i, "variant"]) || !sub("uplo=u", "uplo=l", options) || !(T[i, "seconds"] > 0))
		return
	for (j = 1; j <= T["rows"]; j++)
		if (T[j, "operation"] == "potrf" && T[j, "options"] == options && T[j, "variant"] == T[i, "variant"] && \
			T[j, "math"] == T[i, "math"] && T[j, "n"] == T[i, "n"] && T[j, "nb"] == T[i, "nb"] && T[j, "seconds"] > 0)
			upper[T[i, "precision"], T[i, "n"] + 0] = sprintf("%.2f", T[i, "seconds"] / T[j, "seconds"])
}
function print_triangles(   k, part, i) {
	for (i = 1; i <= 2; i++)
		for (k in upper)
			if (split(k, part, SUBSEP) && part[1] == substr("sd", i, 1))
				add_cell(i == 1 ? "single" : "double", part[2], upper[k])
	print_cells("triangles", "Cholesky: time of the upper triangle over time of the lower one, same plan")
}
# The rate of each factorization at its largest size, and the range of its speedups.
function short_of(key,   j, n, count, largest, least, most, r) {
	count = ascending(sizes[key], n)
	for (j = 1; j <= count; j++) {
		r = ratio(key, n[j])
		if (r == "")
			continue
		largest = n[j]
		least = least == "" || r < least ? r : least
		most = most == "" || r > most ? r : most
	}
	return largest == "" ? "" : title_of(substr(key, 3, 5)) " " \
		sprintf("%.1f Tflop/s at n = %d, speedup over cuSOLVER %.2f to %.2f", flops(substr(key, 3, 5), largest) / \
		best[key, largest] * 1e-12, largest, least, most)
}
function print_short_of(precision, math, name,   i, key, text, one) {
	for (i = 1; i <= keys; i++) {
		key = order[i]
		if (kinds[key] != "whole" || substr(key, 1, 1) != precision || math_of(key) != math)
			continue
		one = short_of(key)
		text = text (text == "" || one == "" ? "" : "; ") one
	}
	if (text != "")
		item("n x n factorizations " name ": " text)
}
function print_short() {
	print_short_of("s", "fp32", "in single precision")
	print_short_of("s", "3xtf32", "by 3xtf32")
	print_short_of("s", "3xfp16", "by 3xfp16")
	print_short_of("d", "fp64", "in double precision")
}
BEGIN {
	if (!load(data "/bench.tsv", T))
		exit
	for (i = 1; i <= T["rows"]; i++) {
		if (option(T[i, "options"], "from") option(T[i, "options"], "without") != "" || T[i, "executor"] != "cuda")
			continue
		if (is_whole_operation(T[i, "operation"]) && T[i, "m"] == T[i, "n"])
			take_whole(i)
		else
			take_panel(i)
		take_triangle(i)
		if (!is_power(T[i, "n"]) || T[i, "m"] != T[i, "n"])
			take_other(i)
	}
	if (table != "") {
		print_table("whole", "vendor", \
			"Speedup over cuSOLVER, n x n, in device memory: the fastest of several plans, algorithms and fill modes")
		print_table("default", "vendor-default", "Speedup over cuSOLVER by default plans, which use no profile")
		print_triangles()
		print_others()
	} else if (short != "")
		print_short()
	else
		write_series()
}
