# SPDX-License-Identifier: MIT
# What bounds factorizations on the GPU, from DATA/bounds.tsv: awk -v data=DATA -f common.awk -f bench.awk -f bounds.awk
# Prints tables of squares of powers of two as markup: how much of the predicted time the operations take at the highest rate of
# products; for panels and for updates how much they take by themselves, and how many times as fast the rest is without them; how
# much longer the library's own plans take.
#   -v rule=yes   prints the design rule that follows from that instead
# Prints nothing without a row.
function row_name(i) {
	return title_of(T[i, "operation"]) (T[i, "precision"] == "s" ? ", single" : ", double") \
		(T[i, "math"] ~ /^fp/ ? "" : ", " T[i, "math"])
}
function is_estimated(i,   part, p) {
	for (p = split("seconds bound_s default_s panels_s updates_s without_panels_s without_updates_s", part, " "); p; p--)
		if (!is_number(T[i, part[p]]) || T[i, part[p]] <= 0)
			return 0
	return 1
}
function cell(i, part,   share) {
	if (i == "")
		return "-"
	if (part == "default")
		return percent(T[i, "default_s"] / T[i, "seconds"] - 1)
	share = percent(T[i, part "_s"] / T[i, "seconds"], "%.0f")
	return part == "bound" ? share : share sprintf("/%.2f", T[i, "seconds"] / T[i, "without_" part "_s"])
}
function print_table(part, caption,   r, c, cells, head) {
	for (c = 1; c <= sizes; c++)
		head = head "|>" size[c]
	table_start("bounds-" part, caption, "<n" head)
	for (r = 1; r <= rows; r++) {
		cells = row[r]
		for (c = 1; c <= sizes; c++)
			cells = cells "|" cell(at[row[r], size[c]], part)
		table_row("", cells)
	}
	table_end()
}
# Up to which size a factorization is done soonest without its panels, and from which on without its updates.
function print_rule(   r, c, i, last, first, text) {
	for (r = 1; r <= rows; r++) {
		if (row[r] ~ /3x/)
			continue
		last = first = ""
		for (c = 1; c <= sizes; c++) {
			i = at[row[r], size[c]]
			if (i == "")
				continue
			if (T[i, "without_panels_s"] + 0 < T[i, "without_updates_s"] + 0) {
				last = size[c]
				first = ""
			} else if (first == "")
				first = size[c]
		}
		text = text (text == "" ? "" : "; ") row[r] ": " (last == "" ? "products at all sizes" : "panels up to n = " last) \
			(last == "" || first == "" ? "" : ", products from " first " on")
	}
	item("Panels or products: which of them pays more to make faster, as predicted. " text ".")
}
BEGIN {
	load(data "/bounds.tsv", T)
	for (i = 1; i <= T["rows"]; i++) {
		n = T[i, "n"] + 0
		if (T[i, "m"] + 0 != n || !is_power(n) || !is_estimated(i))
			continue
		name = row_name(i)
		if (!(name in seen)) {
			seen[name] = 1
			row[++rows] = name
		}
		at[name, n] = i
		if (!(n in known)) {
			known[n] = 1
			list = list " " n
		}
	}
	if (!rows)
		exit
	sizes = ascending(list, size)
	if (rule != "") {
		print_rule()
		exit
	}
	print_table("bound", "What bounds them, as predicted: the operations at the highest rate of products, % of the whole time")
	print_table("panels", "Panels by themselves, % of the whole time / how many times as fast the rest is if they take none")
	print_table("updates", "Updates by themselves, % of the whole time / how many times as fast the rest is if they take none")
	print_table("default", "Plans of the library's calls, which know no profile: % more time than by the model's choice")
}
