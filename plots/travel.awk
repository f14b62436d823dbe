# SPDX-License-Identifier: MIT
# Factorizations of matrices in pinned host memory, from DATA/errors.tsv, at held-out sizes:
#   awk -v data=DATA -f common.awk -f bench.awk -f travel.awk
# Prints a table as markup: measured times in device memory and from host memory and back, and the prediction of the latter.
#   -v rule=yes   prints the design rule instead
# Prints nothing without a row that has both times.

function copies(i) { return percent(1 - T[at_home[i], "measured"] / T[i, "measured"], "%.0f") }
function print_table(   i, j) {
	table_start("travel", "Matrices in pinned host memory, copied to the GPU and back, at held-out sizes", \
		"<factorization|>n|>in device memory|>from host|>copies %|>predicted|>error %")
	for (j = 1; j <= count; j++) {
		i = list[j]
		if (i in at_home)
			table_row(T[i, "verdict"] == "OK" ? "" : "bad", name_of(T[i, "operation"], T[i, "precision"], "fp") \
				(T[i, "variant"] == "hybrid" ? ", panels on the host" : "") "|" T[i, "n"] "|" with_unit(T[at_home[i], "measured"], "s") "|" \
				with_unit(T[i, "measured"], "s") "|" copies(i) "|" with_unit(T[i, "predicted"], "s") "|" percent(T[i, "error"], "%+.1f"))
	}
	table_end("Copies: the share of the time from host memory that exceeds the time in device memory. A triangle is copied in rectangles; the " \
		"model chooses their width.")
}
# The smallest and the largest matrix of each factorization with panels on the GPU.
function print_rule(   i, j, share, name, k, names, first, last, text) {
	for (j = 1; j <= count; j++) {
		i = list[j]
		if (!(i in at_home) || T[i, "variant"] != "gpu" || T[i, "precision"] != "s")
			continue
		name = title_of(T[i, "operation"])
		share = copies(i) " % of n = " T[i, "n"]
		if (!(name in first)) {
			names[++k] = name
			first[name] = share
		}
		last[name] = share
	}
	for (i = 1; i <= k; i++)
		text = text (text == "" ? "" : "; ") names[i] " " first[names[i]] (last[names[i]] == first[names[i]] ? "" : ", " last[names[i]])
	if (text != "")
		plain_rule("factor", "A matrix in host memory", "share of the copies in the whole time, as measured. " text ".", "")
}
BEGIN {
	load(data "/errors.tsv", T)
	count = split(rows_with("level=2 plan=model from=host"), list, " ")
	for (j = 1; j <= count; j++) {
		i = list[j]
		home = first_with("level=2 plan=model from= operation=" T[i, "operation"] " variant=" T[i, "variant"] " n=" T[i, "n"] " precision=" \
			T[i, "precision"] " math=" field(i, "math"), "measured")
		if (home && is_whole_operation(T[i, "operation"]) && judges(T[i, "verdict"]) && judges(T[home, "verdict"]))
			at_home[i] = home
	}
	if (rule != "")
		print_rule()
	else
		print_table()
}
