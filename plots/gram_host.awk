# SPDX-License-Identifier: MIT
# Gram-Schmidt on the host (measure --gram-host) as series for its figure, or as tables:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f gram_host.awk
# With a folder: threads_FORM_N.tsv (Figure 2 of Brandes et al.) and width_N.tsv (Figure 4), N the matrix's columns; prints
# the number of series. With a table: markup: matrices that the last cache holds or does not hold, widths, compilers (Table 1, Figure 5).
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
# Compilers that the file has; their versions.
function compiler_names(   i, c, n, all) {
	n = split("gcc clang icx nvc gfortran ifx nvfortran", all, " ")
	for (c = 1; c <= n; c++)
		if (rows_with("executor=host compiler=" all[c]) != "" || ("meta", all[c]) in T)
			name[++names] = all[c]
}
function with_version(c) { return c (("meta", c) in T ? " " T["meta", c] : "") }
# The size and the numbers of threads of Table 1.
function compilers(   i, c, count, t, threads, teams, team, line, heads, seen, n) {
	for (i = 1; i <= T["rows"]; i++)
		if (field(i, "compiler") != "" && field(i, "threads") + 0 > 1 && !(field(i, "threads") in seen)) {
			seen[field(i, "threads")] = 1
			n = T[i, "n"]
			teams = teams " " field(i, "threads")
		}
	count = ascending(teams == "" ? "" : "1" teams, team)
	for (t = 1; t <= count; t++)
		heads = heads "|>" team[t]
	table_start("gram-compilers", "Table 1 of the paper for this machine: Gflop/s by compiler and threads, n = " n \
		", single precision; first two passes a column, then blocks", "<compiler" heads heads)
	for (c = 1; c <= names && count; c++) {
		line = ""
		for (i = 0; i < 2 * count; i++) {
			threads = team[i % count + 1]
			line = line "|" rate(greatest(runs(i < count ? "kernels" : "blocked", n, threads, name[c]), "gflops"))
		}
		table_row("", with_version(name[c]) line)
	}
	i = greatest(runs("openblas", n, 1), "gflops")
	line = "|" rate(i)
	for (t = 2; t <= 2 * count; t++)
		line = line "|-"
	if (count && i)
		table_row("", "BLAS calls" line)
	table_end()
}
function serial_rate(form, compiler, n,   i) {
	i = greatest(runs(form, n, 1, compiler), "gflops")
	return i ? T[i, "gflops"] + 0 : 0
}
function serial_row(words, form, compiler, count, n,   j, line, any, r) {
	for (j = 1; j <= count; j++) {
		r = serial_rate(form, compiler, n[j])
		any = any || r
		line = line "|" (r ? significant(r, 3) : "-")
	}
	if (any)
		table_row("", words line)
}
# Figure 5: one thread, by compiler and size.
function serial(   c, j, count, n, heads, text) {
	count = numbers_of("executor=host variant=plain", "n", n)
	for (j = 1; j <= count; j++)
		heads = heads "|>" n[j]
	table_start("gram-serial", "Serial code by compiler and size (Figure 5 of the paper): Gflop/s, single precision, n x n", "<compiler|<code" heads)
	for (c = 1; c <= names; c++) {
		serial_row(name[c] (name[c] ~ /f(or|x)/ ? "|arrays" : "|linear indices"), "plain", name[c], count, n)
		serial_row(name[c] "|arrays of fixed sizes", "fixed", name[c], count, n)
		serial_row(name[c] "|our loops", "kernels", name[c], count, n)
	}
	serial_row("BLAS calls|-", "openblas", "", count, n)
	table_end("Linear indices, arrays: the paper's listing with sizes at run time, in C and in Fortran." beside_serial(count, n))
}
function beside_serial(count, n,   text, c, j, linear, fixed) {
	text = " In the paper Fortran was " significant(paper["x5650.unblocked.serial.icpc-12.0.02"] / paper["x5650.unblocked.serial.ifort-12.0.2"], 2) \
		" times as fast as C by Intel's compilers and " \
		significant(paper["x5650.unblocked.serial.g++-4.6"] / paper["x5650.unblocked.serial.gfortran-4.6"], 2) \
		" times by GNU's, and C with fixed sizes nearly as fast as Fortran."
	for (j = count; j > 0; j--)
		if ((linear = serial_rate("plain", "gcc", n[j])) && (fixed = serial_rate("fixed", "gcc", n[j])) && serial_rate("plain", "gfortran", n[j]))
			return text " Here, at n = " n[j] ", GNU's Fortran is " significant(serial_rate("plain", "gfortran", n[j]) / linear, 2) \
				" times as fast as its C, and fixed sizes make C " significant(fixed / linear, 2) " times as fast."
	return text
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
		read_paper("brandes2012")
		compiler_names()
		regimes()
		compilers()
		serial()
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
