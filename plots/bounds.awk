# SPDX-License-Identifier: MIT
# Limits of factorizations on the GPU, from DATA/bounds.tsv: awk -v data=DATA -f common.awk -f bench.awk -f bounds.awk
# Prints tables of squares of powers of two as markup. One has the time of the operations at the highest rate of products as a
# share of the predicted time. For panels and for updates: their time alone, and the speedup without them. The last one compares
# default plans with the model's.
#   -v rule=yes   prints the design rule instead
# Prints nothing without a row.
function is_estimated(i,   part, p) {
	for (p = split("seconds bound_s default_s panels_s updates_s without_panels_s without_updates_s", part, " "); p; p--)
		if (!is_number(T[i, part[p]]) || T[i, part[p]] <= 0)
			return 0
	return 1
}
function cell(i, part,   share) {
	if (part == "default")
		return percent(T[i, "default_s"] / T[i, "seconds"] - 1)
	share = percent(T[i, part "_s"] / T[i, "seconds"], "%.0f")
	return part == "bound" ? share : share sprintf("/%.2f", T[i, "seconds"] / T[i, "without_" part "_s"])
}
function print_table(part, caption,   j) {
	for (j = 1; j <= estimated; j++)
		add_cell(name_in(list[j]), T[list[j], "n"], cell(list[j], part))
	print_cells("bounds-" part, caption)
}
function name_in(i) { return name_of(T[i, "operation"], T[i, "precision"], T[i, "math"]) }
# The sizes at which a factorization gains more from faster panels, and those at which it gains more from faster updates.
function print_rule(   c, count, n, i, j, last, first, text, done, name) {
	for (j = 1; j <= estimated; j++) {
		name = name_in(list[j])
		if (name ~ /3x/ || name in done)
			continue
		done[name] = 1
		last = first = ""
		count = ascending(n_of[name], n)
		for (c = 1; c <= count; c++) {
			i = at[name, n[c]]
			if (T[i, "without_panels_s"] + 0 < T[i, "without_updates_s"] + 0) {
				last = n[c]
				first = ""
			} else if (first == "")
				first = n[c]
		}
		text = text (text == "" ? "" : "; ") name ": " (last == "" ? "products at all sizes" : "panels up to n = " last) \
			(last == "" || first == "" ? "" : ", products from " first " on")
	}
	plain_rule("factor", "Panels or products", "the part whose speedup gains more, as predicted. " text ".", "")
}
BEGIN {
	load(data "/bounds.tsv", T)
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "m"] == T[i, "n"] && is_power(T[i, "n"] + 0) && is_estimated(i)) {
			list[++estimated] = i
			n_of[name_in(i)] = n_of[name_in(i)] " " T[i, "n"]
			at[name_in(i), T[i, "n"] + 0] = i
		}
	if (estimated && rule != "")
		print_rule()
	if (!estimated || rule != "")
		exit
	print_table("bound", "Predicted limits: time of the operations at the highest rate of products, % of the whole time")
	print_table("panels", "Predicted: panels, time alone, % of the whole time / speedup if panels took no time")
	print_table("updates", "Predicted: updates, time alone, % of the whole time / speedup if updates took no time")
	print_table("default", "Predicted: default plans, which use no profile, % more time than the model's plans")
}
