# SPDX-License-Identifier: MIT
# Gram-Schmidt on the host (measure --gram-host) as series for its figure, or as tables:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f gram_host.awk
# With a folder: threads_FORM_N.tsv (Figure 2 of Brandes et al.) and width_N.tsv (Figure 4), N the matrix's columns; prints
# the number of series. With a table: markup: matrices that the last cache holds or does not hold, widths, compilers (Table 1).
function columns_done(i) { return is_number(T[i, "k"]) ? T[i, "k"] + 0 : T[i, "n"] + 0 }
function predicted(i,   row) {
	row = first_with("executor=model variant=" T[i, "variant"] " n=" T[i, "n"] " k=" T[i, "k"] " nb=" T[i, "nb"] " options=" T[i, "options"], "seconds")
	return row ? T[row, "seconds"] : "NaN"
}
# Of the predicted time.
function predicted_rate(i) { return is_time(predicted(i)) ? T[i, "gflops"] * T[i, "seconds"] / predicted(i) : "NaN" }
# Rows of a form and a number of threads, by one compiler ("" is the project's own).
function runs(form, n, threads, compiler) {
	return "executor=host variant=" form " compiler=" compiler " threads=" threads (n == "" ? "" : " n=" n)
}
# The width that the model chooses.
function chosen(n,   j, count, list, best) {
	count = split(rows_with(runs("blocked", n, most)), list, " ")
	for (j = 1; j <= count; j++)
		if (is_time(T[list[j], "seconds"]) && is_time(predicted(list[j])) && (!best || predicted_rate(list[j]) + 0 > predicted_rate(best) + 0))
			best = list[j]
	return best
}

# ---- for the figure ----

function write_threads(form, n,   i, t) {
	for (t = 1; t <= most; t++)
		if (i = greatest(runs(form, n, t), "gflops"))
			point("threads_" form "_" n, "threads seconds predicted", sprintf("%d %.6g %s", t, T[i, "seconds"] / columns_done(i), \
				is_time(predicted(i)) ? predicted(i) / columns_done(i) : "NaN"))
}
function write_widths(n,   j, count, nb, i) {
	count = numbers_of(runs("blocked", n, most), "nb", nb)
	for (j = 1; j <= count; j++)
		if (i = fastest(runs("blocked", n, most) " nb=" nb[j]))
			point("width_" n, "nb gflops predicted", nb[j] " " T[i, "gflops"] " " predicted_rate(i))
}

# ---- for the report ----

function rate(i) { return i ? significant(T[i, "gflops"], 3) : "-" }
function off(i) { return i && is_time(predicted(i)) ? percent(predicted(i) / T[i, "seconds"] - 1, "%+.0f") : "-" }
function caches(n) { return significant(4 * n * n / T["meta", "last_cache_bytes"], 2) }
function regimes(   s, n, two, one, b, c) {
	table_start("gram-host-forms", "Unblocked and blocked Gram-Schmidt, " most " threads, single precision, Gflop/s; model: predicted / measured - 1 in %", \
		">n|>last caches|>two passes|>model|>one pass|>model|>blocks|>nb|>model|>speedup|>regret, %")
	for (s = 1; s <= sizes; s++) {
		n = size[s]
		two = greatest(runs("kernels", n, most), "gflops")
		one = greatest(runs("fused", n, most), "gflops")
		b = greatest(runs("blocked", n, most), "gflops")
		c = chosen(n)
		if (two && b)
			table_row("", n "|" caches(n) "|" rate(two) "|" off(two) "|" rate(one) "|" off(one) "|" rate(b) "|" \
				T[b, "nb"] "|" off(b) "|" significant(T[b, "gflops"] / T[two, "gflops"], 3) "|" \
				(c ? percent(T[b, "gflops"] / T[c, "gflops"] - 1) : "-"))
	}
	table_end()
}
function compilers(   i, c, count, name, t, threads, teams, team, line, heads, seen, list, n, version) {
	for (i = 1; i <= T["rows"]; i++)
		if (field(i, "compiler") != "" && !(field(i, "threads") in seen)) {
			seen[field(i, "threads")] = T[i, "n"]
			teams = teams " " field(i, "threads")
		}
	count = ascending(teams, team)
	for (t = 1; t <= count; t++)
		heads = heads "|>" team[t]
	table_start("gram-compilers", "Table 1 of the paper for this machine: Gflop/s by compiler and threads, n = " seen[team[1]] \
		", single precision; first two passes a column, then blocks", "<compiler" heads heads)
	split("gcc clang gfortran", name, " ")
	for (c = 1; c <= 3 && count; c++) {
		line = version = ""
		for (i = 0; i < 2 * count; i++) {
			threads = team[i % count + 1]
			line = line "|" rate(greatest(runs(i < count ? "kernels" : "blocked", "", threads, name[c]), "gflops"))
			n = split(rows_with(runs(i < count ? "kernels" : "blocked", "", threads, name[c])), list, " ")
			if (n && !is_time(T[list[1], "seconds"]))
				version = " (not there when fathom was built)"
		}
		table_row("", name[c] (("meta", name[c]) in T ? " " T["meta", name[c]] : version) line)
	}
	i = greatest(runs("openblas", "", 1), "gflops")
	line = "|" rate(i)
	for (t = 2; t <= 2 * count; t++)
		line = line "|-"
	if (count && i)
		table_row("", "BLAS calls" line)
	table_end()
}
# The paper's own comparison, as sentences.
function beside_paper(   n, two, b, key) {
	key = ".12threads.ifort-12.0.2"
	n = size[sizes]
	two = greatest(runs("kernels", n, most), "gflops")
	b = greatest(runs("blocked", n, most), "gflops")
	if (("x5650.blocked" key) in paper && two && b)
		paragraph("The paper's best compiler had the blocks " significant(paper["x5650.unblocked" key] / paper["x5650.blocked" key], 3) \
			" times as fast as the two passes (8192 x 8192, 12 threads: " significant(2 * cube(8192) / paper["x5650.blocked" key] * 1e-9, 3) \
			" Gflop/s); here it is " significant(T[b, "gflops"] / T[two, "gflops"], 3) " times (" n " x " n ", " \
			caches(n) " times the last cache, " most " threads: " rate(b) " Gflop/s).")
}

BEGIN {
	if (!load(data "/gram_host.tsv", T))
		exit
	most = numbers_of("", "threads", size)
	most = size[most]
	sizes = numbers_of("executor=host", "n", size)
	if (table == "yes") {
		regimes()
		compilers()
		read_paper("brandes2012")
		beside_paper()
		exit
	}
	for (s = 1; s <= sizes; s++) {
		write_threads("kernels", size[s])
		write_threads("fused", size[s])
		write_threads("blocked", size[s])
		write_widths(size[s])
	}
	if (series)
		print series
}
