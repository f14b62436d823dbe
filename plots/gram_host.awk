# SPDX-License-Identifier: MIT
# Gram-Schmidt on the host (measure --gram-host) as series for its figure, or as tables:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f gram_host.awk
# With a folder: threads_FORM_N.tsv (Figure 2 of Brandes et al.) and width_N.tsv (Figure 4), N the matrix's columns; prints
# the number of series. With a table: markup: matrices that the last cache holds or does not hold, widths, compilers (Table 1).
function columns_done(i) { return is_number(G[i, "k"]) ? G[i, "k"] + 0 : G[i, "n"] + 0 }
function threads(i) { return option(G[i, "options"], "threads") + 0 }
function key_of(i) {
	return G[i, "variant"] SUBSEP G[i, "n"] SUBSEP G[i, "k"] SUBSEP G[i, "nb"] SUBSEP G[i, "options"]
}
function predicted(i) { return key_of(i) in model ? G[model[key_of(i)], "seconds"] : "NaN" }
# Of the predicted time.
function predicted_rate(i) { return is_time(predicted(i)) ? G[i, "gflops"] * G[i, "seconds"] / predicted(i) : "NaN" }

function collect(   i, n) {
	for (i = 1; i <= G["rows"]; i++) {
		n = G[i, "n"] + 0
		if (G[i, "executor"] == "model")
			model[key_of(i)] = i
		else if (!(n in size)) {
			size[n] = 1
			list = list " " n
		}
		most = threads(i) > most ? threads(i) : most
	}
	sizes = ascending(list, ordered)
}
# Rows of the project's own compiler with a time.
function own(i, form, n) {
	return G[i, "executor"] == "host" && G[i, "variant"] == form && G[i, "n"] + 0 == n && is_time(G[i, "seconds"]) && \
		option(G[i, "options"], "compiler") == ""
}
# The fastest one of a form, matrix and team, 0 when there is none.
function fastest(form, n, team,   i, best) {
	for (i = 1; i <= G["rows"]; i++)
		if (own(i, form, n) && threads(i) == team && (!best || G[i, "gflops"] + 0 > G[best, "gflops"] + 0))
			best = i
	return best
}
# The width that the model chooses.
function chosen(n, team,   i, best) {
	for (i = 1; i <= G["rows"]; i++)
		if (own(i, "blocked", n) && threads(i) == team && is_time(predicted(i)) && \
			(!best || predicted_rate(i) + 0 > predicted_rate(best) + 0))
			best = i
	return best
}

# ---- for the figure ----

function write_threads(form, n,   i, t) {
	for (t = 1; t <= most; t++) {
		i = fastest(form, n, t)
		if (!i)
			continue
		begin_series("threads_" form "_" n, "threads seconds predicted")
		printf "%d\t%.6g\t%s\n", t, G[i, "seconds"] / columns_done(i), \
			is_time(predicted(i)) ? predicted(i) / columns_done(i) : "NaN" >out
	}
}
function write_widths(n,   i, nb) {
	for (nb = 1; nb <= 256; nb++)
		for (i = 1; i <= G["rows"]; i++)
			if (own(i, "blocked", n) && threads(i) == most && G[i, "nb"] + 0 == nb) {
				begin_series("width_" n, "nb gflops predicted")
				printf "%d\t%s\t%s\n", nb, G[i, "gflops"], predicted_rate(i) >out
				break
			}
}

# ---- for the report ----

function rate(i) { return i ? significant(G[i, "gflops"], 3) : "-" }
function off(i) { return i && is_time(predicted(i)) ? percent(predicted(i) / G[i, "seconds"] - 1, "%+.0f") : "-" }
function cache(n) { return 4 * n * n / G["meta", "last_cache_bytes"] }
function regimes(   s, n, two, one, b, c) {
	table_start("gram-host", "Unblocked and blocked Gram-Schmidt, " most " threads, single precision; model: predicted / measured - 1 in %", \
		">n|>last caches|>two passes: Gflop/s|>model|>one pass|>model|>blocks|>nb|>model|>speedup of blocks|>regret of the model's nb, %")
	for (s = 1; s <= sizes; s++) {
		n = ordered[s]
		two = fastest("kernels", n, most)
		one = fastest("fused", n, most)
		b = fastest("blocked", n, most)
		c = chosen(n, most)
		if (two && b)
			table_row("", n "|" significant(cache(n), 2) "|" rate(two) "|" off(two) "|" rate(one) "|" off(one) "|" rate(b) "|" \
				G[b, "nb"] "|" off(b) "|" significant(G[b, "gflops"] / G[two, "gflops"], 3) "|" \
				(c ? percent(G[b, "gflops"] / G[c, "gflops"] - 1) : "-"))
	}
	table_end()
}
function of_compiler(name, form, team,   i, best) {
	for (i = 1; i <= G["rows"]; i++)
		if (G[i, "executor"] == "host" && G[i, "variant"] == form && threads(i) == team && \
			option(G[i, "options"], "compiler") == name && (!best || G[i, "gflops"] + 0 > G[best, "gflops"] + 0))
			best = i
	return best
}
function compilers(   i, c, count, name, t, teams, team, line, cells, seen, missing, version) {
	for (i = 1; i <= G["rows"]; i++)
		if ((name = option(G[i, "options"], "compiler")) != "") {
			if (!(threads(i) in seen))
				teams = teams " " threads(i)
			seen[threads(i)] = G[i, "n"]
		}
	count = ascending(teams, team)
	if (!count)
		return
	for (t = 1; t <= count; t++)
		cells = cells "|>" team[t]
	table_start("gram-compilers", "Table 1 of the paper for this machine: Gflop/s by compiler and threads, n = " seen[team[1]] \
		", single precision; first two passes a column, then blocks", "<compiler" cells cells)
	for (c = split("gcc clang gfortran", name_list, " "); c > 0; c--) {
		name = name_list[4 - c]
		line = missing = ""
		for (i = 1; i <= 2; i++)
			for (t = 1; t <= count; t++) {
				row = of_compiler(name, i == 1 ? "kernels" : "blocked", team[t])
				line = line "|" (row && is_time(G[row, "seconds"]) ? rate(row) : "-")
				missing = row && !is_time(G[row, "seconds"]) ? G[row, "note"] : missing
			}
		version = ("meta", name) in G ? " " G["meta", name] : missing != "" ? " (not there when fathom was built)" : ""
		sub(/ [0-9].*\(Debian.*|^ [A-Z][a-z]* Clang /, "&", version)
		table_row("", name version line)
	}
	row = of_compiler("", "openblas", 1)
	if (row) {
		line = "|" rate(row)
		for (t = 2; t <= 2 * count; t++)
			line = line "|-"
		table_row("", "BLAS calls" line)
	}
	table_end()
}
# The paper's own comparison, as sentences.
function beside_paper(   n, two, b, key) {
	key = ".12threads.ifort-12.0.2"
	n = ordered[sizes]
	two = fastest("kernels", n, most)
	b = fastest("blocked", n, most)
	if (("x5650.blocked" key) in paper && two && b)
		paragraph("The paper's best compiler had the blocks " significant(paper["x5650.unblocked" key] / paper["x5650.blocked" key], 3) \
			" times as fast as the two passes (8192 x 8192, 12 threads: " significant(2 * cube(8192) / paper["x5650.blocked" key] * 1e-9, 3) \
			" Gflop/s); here it is " significant(G[b, "gflops"] / G[two, "gflops"], 3) " times (" n " x " n ", " \
			significant(cache(n), 2) " times the last cache, " most " threads: " rate(b) " Gflop/s).")
}

BEGIN {
	if (!load(data "/gram_host.tsv", G))
		exit
	collect()
	if (table == "yes") {
		regimes()
		compilers()
		read_paper("brandes2012")
		beside_paper()
		exit
	}
	for (s = 1; s <= sizes; s++) {
		write_threads("kernels", ordered[s])
		write_threads("fused", ordered[s])
		write_threads("blocked", ordered[s])
		write_widths(ordered[s])
	}
	if (series)
		print series
}
