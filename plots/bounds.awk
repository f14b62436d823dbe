# SPDX-License-Identifier: MIT
# Limits of factorizations on the GPU, from DATA/bounds.tsv: awk -v data=DATA -f common.awk -f bench.awk -f bounds.awk
# Prints tables of squares of powers of two as markup. One has the time of the operations at the highest rate of products as a
# share of the predicted time. For panels and for updates: their time alone, and the speedup without them. The last one compares
# default plans with the model's.
#   -v rule=yes   prints the design rule instead
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
# The sizes at which a factorization gains more from faster panels, and those at which it gains more from faster updates.
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
	item("Panels or products: the part whose speedup gains more, as predicted. " text ".")
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
	print_table("bound", "Predicted limits: time of the operations at the highest rate of products, % of the whole time")
	print_table("panels", "Panels: time alone, % of the whole time / speedup if panels took no time")
	print_table("updates", "Updates: time alone, % of the whole time / speedup if updates took no time")
	print_table("default", "Default plans, which use no profile: % more time than the model's plans")
}
