# SPDX-License-Identifier: MIT
# Speedup over cuSOLVER, from DATA/bench.tsv: awk -v data=DATA -f common.awk -f bench.awk -f vendor.awk with
#   -v folder=WORK   writes folder/PRECISION_OPERATION_MATH.tsv (n, ratio) and folder/OPERATION_{ours,cusolver}_WIDTH.tsv (m,
#                    us a column of panels); prints the number of series
#   -v table=yes     prints the tables of ratios as markup: squares of powers of two, Cholesky's triangles,
#                    all other shapes
#   -v short=yes     prints a line for each factorization
# Of several plans, algorithms, fill modes and places of panels the fastest counts, on both sides; panels by cuSOLVER have one call.

# Series of -seconds (the largest counts): "PRECISION_OPERATION_MATH", the same of default plans with "+default", of cuSOLVER
# "PRECISION_OPERATION", and of panels.
function keep_time(kind, key, x, i) {
	if (!(key in x_of))
		order[++keys] = key
	kinds[key] = kind
	keep(key, x + 0, -T[i, "seconds"])
}
function is_ours(variant) { return variant ~ /^(gpu|hybrid|persistent|host)$/ }
function take_whole(i,   key) {
	key = T[i, "precision"] "_" T[i, "operation"]
	if (option(T[i, "options"], "plan") == "default")
		keep_time("default", key "_" T[i, "math"] "+default", T[i, "n"], i)
	if (is_ours(T[i, "variant"]))
		keep_time("whole", key "_" T[i, "math"], T[i, "n"], i)
	else if (T[i, "variant"] == "cusolver")
		keep_time("vendor", key, T[i, "n"], i)
	else if (T[i, "variant"] == "cusolver_emulated")
		keep_time("emulated", key "+emulated", T[i, "n"], i)
}
# Panels: at least sixteen times as long as wide.
function take_panel(i,   o) {
	o = T[i, "operation"] == "panel_getrf" ? "getrf" : T[i, "operation"]
	if (T[i, "precision"] == "s" && T[i, "n"] <= 128 && T[i, "m"] >= 16 * T[i, "n"] && (o == "getrf" || o == "geqrf") && \
		(is_ours(T[i, "variant"]) || T[i, "variant"] == "cusolver"))
		keep_time("panel", o "_" (is_ours(T[i, "variant"]) ? "ours" : "cusolver") "_" T[i, "n"], T[i, "m"], i)
}
# Shapes other than squares of powers of two: our fastest time by math, and the vendor's.
function take_other(i,   shape, ours) {
	shape = T[i, "operation"] "|" T[i, "m"] "|" T[i, "n"] "|" T[i, "precision"]
	ours = is_ours(T[i, "variant"]) ? T[i, "math"] : T[i, "variant"] == "cusolver" ? "cusolver" : ""
	if (ours == "")
		return
	if (!(shape in x_of))
		other[++others] = shape
	keep(shape, ours, -T[i, "seconds"])
}
# Cholesky of the upper triangle against the same plan with the lower one.
function take_triangle(i,   j, options) {
	options = T[i, "options"]
	if (T[i, "operation"] != "potrf" || !is_ours(T[i, "variant"]) || !sub("uplo=u", "uplo=l", options))
		return
	j = first_with("operation=potrf options=" options " variant=" T[i, "variant"] " math=" T[i, "math"] " n=" T[i, "n"] " nb=" T[i, "nb"], "seconds")
	if (j)
		upper[T[i, "precision"], T[i, "n"] + 0] = sprintf("%.2f", T[i, "seconds"] / T[j, "seconds"])
}
function ratio(key, n) { # PRECISION_OPERATION_MATH
	return (substr(key, 1, 7), n) in kept && (key, n) in kept ? kept[substr(key, 1, 7), n] / kept[key, n] : ""
}
function math_of(key) { return substr(key, 9, match(substr(key, 9) "+", /[+]/) - 1) }
function write_series(   i, j, key, count, n, amount) {
	for (i = 1; i <= keys; i++) {
		key = order[i]
		if (kinds[key] ~ /^(vendor|default|emulated)$/)
			continue
		begin_series(key, kinds[key] == "panel" ? "m us_per_column" : "n ratio")
		count = ascending(x_of[key], n)
		for (j = 1; j <= count; j++) {
			amount = kinds[key] == "whole" ? ratio(key, n[j]) : -kept[key, n[j]] * 1e6 / substr(key, match(key, /[0-9]+$/))
			if (amount != "")
				point(key, "", sprintf("%d %.6g", n[j], amount))
		}
	}
	if (series)
		print series
}
function print_table(kind, id, caption,   i, j, n, count) {
	for (i = 1; i <= keys; i++) {
		count = kinds[order[i]] == kind ? split(x_of[order[i]], n, " ") : 0
		for (j = 1; j <= count; j++)
			if (is_power(n[j]) && ratio(order[i], n[j]) != "")
				add_cell(name_of(substr(order[i], 3, 5), substr(order[i], 1, 1), math_of(order[i])), n[j], sprintf("%.2f", ratio(order[i], n[j])))
	}
	print_cells(id, caption)
}
function print_others(   i, j, math, part, ours, theirs) {
	split("fp32 fp64 3xtf32 3xfp16", math, " ")
	table_start("vendor-others", "Speedup over cuSOLVER: other shapes, and panels of LU alone", \
		"<factorization|>m|>n|<math|>ours|>cuSOLVER|>speedup")
	for (i = 1; i <= others; i++)
		for (j = 1; j <= 4; j++) {
			theirs = -kept[other[i], "cusolver"]
			ours = -kept[other[i], math[j]]
			split(other[i], part, "|")
			if (theirs > 0 && ours > 0)
				table_row("", (part[1] == "panel_getrf" ? "LU panel" : title_of(part[1])) "|" part[2] "|" part[3] "|" math[j] "|" \
					with_unit(ours, "s") "|" with_unit(theirs, "s") "|" sprintf("%.2f", theirs / ours))
		}
	table_end("LU panels by cuSOLVER: its call by type, whose algorithm is not chosen.")
}
function print_triangles(   k, part, i) {
	for (i = 1; i <= 2; i++)
		for (k in upper)
			if (split(k, part, SUBSEP) && part[1] == substr("sd", i, 1) && is_power(part[2] + 0))
				add_cell(i == 1 ? "single" : "double", part[2], upper[k])
	print_cells("triangles", "Cholesky: time of the upper triangle over time of the lower one, same plan")
}
# The rate of each factorization at its largest size, and the range of its speedups.
function short_of(key,   j, n, count, largest, least, most, r) {
	count = ascending(x_of[key], n)
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
		-kept[key, largest] * 1e-12, largest, least, most)
}
function print_short_of(precision, math, name,   i, text, one) {
	for (i = 1; i <= keys; i++) {
		one = kinds[order[i]] == "whole" && substr(order[i], 1, 1) == precision && math_of(order[i]) == math ? short_of(order[i]) : ""
		text = text (text == "" || one == "" ? "" : "; ") one
	}
	if (text != "")
		item("n x n factorizations " name ": " text)
}
BEGIN {
	load(data "/bench.tsv", T)
	for (i = 1; i <= T["rows"]; i++) {
		# Not one run alone, which may have loaded code.
		checked = T[i, "note"] !~ /^one run, not checked/
		if (option(T[i, "options"], "from") option(T[i, "options"], "without") != "" || T[i, "executor"] != "cuda" || !(T[i, "seconds"] > 0))
			continue
		if (!is_whole_operation(T[i, "operation"]) || T[i, "m"] != T[i, "n"])
			take_panel(i)
		else if (checked)
			take_whole(i)
		take_triangle(i)
		if (checked && (!is_power(T[i, "n"]) || T[i, "m"] != T[i, "n"]))
			take_other(i)
	}
	if (table != "") {
		print_table("whole", "vendor", "Speedup over cuSOLVER, n x n, in device memory: the fastest of several plans, algorithms and fill modes")
		emulates = T["meta", "cusolver_emulates"]
		note("cuSOLVER runs in its default math mode, fp32 or fp64." (emulates == "none" ? \
			" Its emulated modes (BF16x9, fixed point) change no bit of an LU here: this toolkit or this GPU has none." : ""))
		print_table("emulated", "vendor-emulated", "cuSOLVER by emulated products (BF16x9, fixed point): speedup over its default mode")
		print_table("default", "vendor-default", "Speedup over cuSOLVER by default plans, which use no profile")
		print_triangles()
		print_others()
	} else if (short != "") {
		print_short_of("s", "fp32", "in single precision")
		print_short_of("s", "3xtf32", "by 3xtf32")
		print_short_of("s", "3xfp16", "by 3xfp16")
		print_short_of("d", "fp64", "in double precision")
	} else
		write_series()
}
