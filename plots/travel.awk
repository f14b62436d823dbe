# SPDX-License-Identifier: MIT
# Factorizations of matrices in pinned host memory, from DATA/errors.tsv, at held-out sizes:
#   awk -v data=DATA -f common.awk -f bench.awk -f travel.awk
# Prints a table as markup: measured times in device memory and from host memory and back, and the prediction of the latter.
#   -v rule=yes   prints the design rule instead
# Prints nothing without a row that has both times.
function same(i, j) {
	return E[i, "operation"] == E[j, "operation"] && E[i, "variant"] == E[j, "variant"] && E[i, "n"] == E[j, "n"] && \
		E[i, "precision"] == E[j, "precision"] && E[i, "math"] == E[j, "math"]
}
function is_chosen(i) {
	return E[i, "level"] == 2 && is_whole_operation(E[i, "operation"]) && E[i, "verdict"] != "SKIPPED" && option(E[i, "options"], "plan") == "model"
}
# The row of the resident matrix, "" without one.
function resident(i,   j) {
	for (j = 1; j <= E["rows"]; j++)
		if (is_chosen(j) && option(E[j, "options"], "from") == "" && same(i, j))
			return j
	return ""
}
function name_of(i) {
	return title_of(E[i, "operation"]) (E[i, "precision"] == "s" ? ", single" : ", double") \
		(E[i, "variant"] == "hybrid" ? ", panels on the host" : "")
}
function print_table(   i) {
	table_start("travel", "Matrices in pinned host memory, copied to the GPU and back, at held-out sizes", \
		"<factorization|>n|>in device memory|>from host|>copies %|>predicted|>error %")
	for (i = 1; i <= E["rows"]; i++)
		if (i in at_home)
			table_row(E[i, "verdict"] == "OK" ? "" : "bad", name_of(i) "|" E[i, "n"] "|" with_unit(E[at_home[i], "measured"], "s") "|" \
				with_unit(E[i, "measured"], "s") "|" percent(1 - E[at_home[i], "measured"] / E[i, "measured"], "%.0f") "|" \
				with_unit(E[i, "predicted"], "s") "|" percent(E[i, "error"], "%+.1f"))
	table_end()
	paragraph("Copies: the share of the time from host memory that exceeds the time in device memory. A triangle is copied in rectangles; the " \
		"model chooses their width.")
}
# The smallest and the largest matrix of each factorization with panels on the GPU.
function print_rule(   i, share, name, k, names, first, last, text) {
	for (i = 1; i <= E["rows"]; i++) {
		if (!(i in at_home) || E[i, "variant"] != "gpu" || E[i, "precision"] != "s")
			continue
		name = title_of(E[i, "operation"])
		share = percent(1 - E[at_home[i], "measured"] / E[i, "measured"], "%.0f") " % of n = " E[i, "n"]
		if (!(name in first)) {
			names[++k] = name
			first[name] = share
		}
		last[name] = share
	}
	for (i = 1; i <= k; i++)
		text = text (text == "" ? "" : "; ") names[i] " " first[names[i]] (last[names[i]] == first[names[i]] ? "" : ", " last[names[i]])
	if (text != "")
		item("A matrix in host memory: share of the copies in the whole time, as measured. " text ".")
}
BEGIN {
	load(data "/errors.tsv", E)
	for (i = 1; i <= E["rows"]; i++)
		if (is_chosen(i) && option(E[i, "options"], "from") == "host" && (j = resident(i)) != "") {
			at_home[i] = j
			count++
		}
	if (!count)
		exit
	if (rule != "")
		print_rule()
	else
		print_table()
}
