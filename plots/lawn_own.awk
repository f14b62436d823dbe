# SPDX-License-Identifier: MIT
# LAWN 202's own factorizations (variant lawn), predicted and measured: awk -v data=DIR -v papers=data/papers -f common.awk -f bench.awk -f lawn_own.awk
# Reads DIR/lawn.tsv (predicted) and DIR/bench.tsv (measured). With table=yes tables: rates by n, the slowdown without each part, and
# LU's errors. Else series of the figure: folder/{predicted,measured}_OPERATION{,_host}.tsv (n, gflops) and
# folder/{predicted,measured}_without_NAME.tsv (n, ratio) of LU. Prints the number of series; nothing without a row.

function part_title(name) {
	return name == "rows" ? "row-major layout" : name == "levels" ? "two levels of blocks" : name == "transfers" ? "overlapped transfers" : \
		name == "batches" ? "batched row swaps" : name == "widths" ? "sequence of widths" : name == "inverse" ? "inverses (solves)" : \
		name == "lookahead" ? "look-ahead" : name
}
# rate[kind, operation, place, n] in Gflop/s; slow[kind, operation, name, n].
function take_rate(kind, operation, place, n, gflops) {
	if (gflops + 0 > 0 && gflops + 0 > rate[kind, operation, place, n] + 0)
		rate[kind, operation, place, n] = gflops + 0
	sizes[n] = 1
}
function take_predicted(   i, from, name, complete) {
	load(data "/lawn.tsv", L)
	for (i = 1; i <= L["rows"]; i++) {
		from = option(L[i, "options"], "from")
		name = option(L[i, "options"], "without")
		if (name == "") {
			take_rate("predicted", L[i, "operation"], from, L[i, "n"], L[i, "gflops"])
			if (from == "")
				complete[L[i, "operation"], L[i, "n"]] = L[i, "seconds"]
		} else
			take_slow("predicted", L[i, "operation"], name, L[i, "n"], L[i, "seconds"] / complete[L[i, "operation"], L[i, "n"]])
	}
}
function take_slow(kind, operation, name, n, ratio) {
	if (!((operation, name) in parts)) {
		parts[operation, name] = 1
		part_list[operation] = part_list[operation] " " name
	}
	slow[kind, operation, name, n] = ratio
	slow_sizes[n] = 1
}
function take_measured(   i, k, part) {
	load(data "/bench.tsv", T)
	for (i = 1; i <= T["rows"]; i++) {
		if (T[i, "variant"] != "lawn" || !is_whole_operation(T[i, "operation"]) || !(T[i, "seconds"] > 0))
			continue
		if (option(T[i, "options"], "without") == "")
			take_rate("measured", T[i, "operation"], option(T[i, "options"], "from"), T[i, "n"], T[i, "gflops"])
		k = slowdown_series(i, "s")
		if (k == "" || !(slower > 0))
			continue
		split(k, part, "-")
		take_slow("measured", part[1], part[3], T[i, "n"], slower)
	}
}
function list_of(set,   text, n) {
	for (n in set)
		text = text " " n
	return text
}
function rates_table(   o, p, k, j, n, count, operation, place, kind, x) {
	split("getrf geqrf potrf", operation, " ")
	split(", host", place, ",")
	split("predicted measured", kind, " ")
	count = ascending(list_of(sizes), n)
	for (o = 1; o <= 3; o++)
		for (p = 1; p <= 2; p++)
			for (k = 1; k <= 2; k++)
				for (j = 1; j <= count; j++) {
					x = rate[kind[k], operation[o], p == 1 ? "" : "host", n[j]]
					if (x != "")
						add_cell(title_of(operation[o]) (p == 1 ? "" : ", host memory") ", " kind[k], n[j], significant(x, 3))
				}
	if (row_names)
		print_cells("lawn-own", "LAWN 202's own factorizations (section 5): Gflop/s by n")
}
function slowdowns_table(   o, i, k, j, n, count, operation, kind, name, names, x) {
	split("getrf geqrf potrf", operation, " ")
	split("predicted measured", kind, " ")
	count = ascending(list_of(slow_sizes), n)
	for (o = 1; o <= 3; o++) {
		names = split(part_list[operation[o]], name, " ")
		for (i = 1; i <= names; i++)
			for (k = 1; k <= 2; k++)
				for (j = 1; j <= count; j++) {
					x = slow[kind[k], operation[o], name[i], n[j]]
					if (x != "")
						add_cell(title_of(operation[o]) ", " part_title(name[i]) ", " kind[k], n[j], sprintf("%.2f", x))
				}
	}
	if (row_names)
		print_cells("lawn-own-without", "Slowdown of these without one part (LAWN 202, Figure 11): times slower")
}
# The own plan of LU with inverses of 64 columns, and with solves.
function errors_table(   j, count, n) {
	count = numbers_of("operation=error_getrf variant=lawn without= kind=", "n", n)
	table_start("lawn-own-errors", "Backward errors of LAWN 202's own LU (section 6), in 2^-23 max|A|", \
		">n|>inverses|>solves|>panels on the GPU|>OpenBLAS|>" LAWN_NAME)
	for (j = 1; j <= count; j++)
		table_row("", n[j] line_of("operation=error_getrf kind= n=" n[j], "error variant=lawn without=|" \
			"error variant=lawn without=inverse|error variant=gpu math=fp32 with=|error variant=openblas math=fp32") "|" \
			(n[j] == 8192 ? paper["lu.error_8192"] : "-"))
	table_end("The inverses are of 64 x 64 triangles, the paper's matrix is another one. It says: about the same accuracy.")
}
function series_of_all(   key, part) {
	for (key in rate) {
		split(key, part, SUBSEP)
		if (rate[key] != "")
			keep(part[1] "_" part[2] (part[3] == "" ? "" : "_host"), part[4], rate[key])
	}
	for (key in x_of)
		write_kept(key, "n gflops")
	for (key in x_of)
		delete x_of[key]
	for (key in slow) {
		split(key, part, SUBSEP)
		if (part[2] == "getrf" && slow[key] != "")
			keep(part[1] "_without_" part[3], part[4], slow[key])
	}
	for (key in x_of)
		write_kept(key, "n ratio")
	if (series)
		print series
}
BEGIN {
	take_predicted()
	take_measured()
	if (table == "") {
		series_of_all()
		exit
	}
	rates_table()
	slowdowns_table()
	read_paper("volkov2008")
	errors_table()
	if (list_of(sizes) != "")
		paragraph("Panels of 64 columns on the CPU beside the updates. LU: row-major on the GPU, products with inverses of the 64 x 64" \
			" triangles, two levels of blocks. Cholesky: triangular solves on the CPU, too, two levels. QR: a sequence of widths. In the" \
			" paper the CPU inverts LU's triangles and fills in QR's, here the GPU does. Without inverses one kernel of ours swaps rows and" \
			" solves. The tables use lawn.tsv (fathom predict) and bench.tsv (fathom measure --bench). Host memory: both transfers count.")
}
