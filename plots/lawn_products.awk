# SPDX-License-Identifier: MIT
# LAWN 202's products of block triangles (section 4.2), for small C (4.3, Figure 5) and of thin matrices (Figure 6):
#   awk -v data=DIR -v papers=data/papers -f common.awk -f lawn_products.awk, and one of
#   -v folder=WORK -v figure_of=small_gemm   writes WORK/SERIES.tsv (blocks, us); prints the number of series
#   -v folder=WORK -v figure_of=thin_gemm    the same (n, tflops)
#   -v table=yes    the tables, as markup
#   -v rule=yes     a design rule each
# Reads DIR/bench.tsv and, for the host, DIR/profile.tsv. Prints nothing without a row for it.

# The shapes of an operation on the GPU, ascending by n and k: shape[1..], n_of[...], k_of[...]; returns how many.
function shapes_of(operation,   n, k, counts, count, i, j) {
	shapes = 0
	of = "executor=cuda operation=" operation
	counts = numbers_of(of, "n", n)
	for (i = 1; i <= counts; i++) {
		count = numbers_of(of " n=" n[i], "k", k)
		for (j = 1; j <= count || j == 1; j++) {
			n_of[++shapes] = n[i]
			k_of[shapes] = count ? k[j] : 0
			shape[shapes] = of " n=" n[i] (count ? " k=" k[j] : "")
		}
	}
	return shapes
}
function rate_of(terms) { return fastest(terms) ? T[fastest(terms), "gflops"] * 1e-3 : "" }
function tflops(x) { return x == "" ? "-" : significant(x, 3) }

# ---- block triangles ----

# worst_exit: the largest ratio of times, exit over folded, at worst_n and worst_k; peak[way]: the best rates.
function compare_exit(   j, folded, left) {
	for (j = shapes_of("syrk"); j > 0; j--) {
		folded = shape[j] " variant=volkov blocks=folded"
		left = shape[j] " variant=volkov blocks=exit"
		if (seconds_of(fastest(folded)) == "" || seconds_of(fastest(left)) == "")
			continue
		peak["folded"] = rate_of(folded) > peak["folded"] ? rate_of(folded) : peak["folded"]
		peak["exit"] = rate_of(left) > peak["exit"] ? rate_of(left) : peak["exit"]
		if (seconds_of(fastest(left)) / seconds_of(fastest(folded)) >= worst_exit) {
			worst_exit = seconds_of(fastest(left)) / seconds_of(fastest(folded))
			worst_n = n_of[j]
			worst_k = k_of[j]
		}
	}
}
function syrk_table(   j, folded, left) {
	compare_exit()
	table_start("lawn-syrk", "The lower triangle of C + A A^T in the vector-thread product (LAWN 202, section 4.2), Tflop/s", \
		">n|>k|>folded|>early exit|>all of C|>our own|>cuBLAS|>exit, % more time")
	for (j = 1; j <= shapes; j++) {
		folded = seconds_of(fastest(shape[j] " variant=volkov blocks=folded"))
		left = seconds_of(fastest(shape[j] " variant=volkov blocks=exit"))
		table_row("", n_of[j] "|" k_of[j] line_of(shape[j], "tflops variant=volkov blocks=folded|tflops variant=volkov blocks=exit|" \
			"tflops variant=volkov blocks=full|tflops variant=own|tflops variant=cublas") "|" \
			(folded == "" || left == "" ? "-" : sprintf("%+.1f", 100 * (left / folded - 1))))
	}
	table_end("Rates count the triangle alone. Folded: one block of threads for each 64 x 16 block of the triangle, in a" \
		" rectangular grid. Early exit: one for each block of C; those above the diagonal end at once." \
		(worst_exit ? " The best rate of early exit is " sprintf("%.1f", 100 * (1 - peak["exit"] / peak["folded"])) " % lower, and it takes at" \
		" most " sprintf("%.1f", 100 * (worst_exit - 1)) " % more time (n = " worst_n ", k = " worst_k "); on the " LAWN_NAME " " \
		paper[LAWN_GPU ".early_exit_peak"] " % and about " paper[LAWN_GPU ".early_exit_worst"] " %." : ""))
}
function trmm_table(   j, w, way, name, full, adjusted) {
	table_start("lawn-trmm", "Triangular A or B in the vector-thread product (LAWN 202, section 4.2), Tflop/s", \
		">n|<triangle|>adjusted|>all of k|>cuBLAS|>speedup over all of k")
	split("side=l uplo=l,side=l uplo=u,side=r uplo=l,side=r uplo=u", way, ",")
	split("lower A,upper A,lower B,upper B", name, ",")
	shapes_of("trmm")
	for (j = 1; j <= shapes; j++) {
		full = rate_of(shape[j] " variant=volkov " way[1] " blocks=full")
		for (w = 1; w <= 4; w++) {
			adjusted = rate_of(shape[j] " variant=volkov " way[w] " blocks=")
			table_row("", n_of[j] "|" name[w] "|" tflops(adjusted) "|" (w == 1 ? tflops(full) : "-") line_of(shape[j], "tflops variant=cublas " way[w]) \
				"|" (full == "" || adjusted == "" ? "-" : sprintf("%.2f", adjusted / full)))
		}
	}
	table_end("Adjusted: the loop over k of a block of threads skips the zeros of the triangle; its body is the same." \
		" Rates count the triangle alone; the largest possible speedup is 2.")
}

# ---- small C ----

function blocks_of(n) { return int((n + 63) / 64) * int((n + 15) / 16) }
# The row with the fastest number of parts of k, at least two.
function best_split(terms,   s, i, row) {
	for (s = 2; s <= 1024; s *= 2)
		if ((i = fastest(terms " variant=volkov splits=" s)) && (!row || T[i, "seconds"] + 0 < T[row, "seconds"] + 0))
			row = i
	return row
}
# The row of a way to compute a small product.
function small_row(way, terms) {
	return way == "split" ? best_split(terms) : fastest(terms (way == "one" ? " variant=volkov splits=1" : way == "own" ? " variant=own splits=1" : \
		way == "own_split" ? " variant=own splits=plan" : " variant=cublas"))
}
function seconds_of(row) { return row ? T[row, "seconds"] + 0 : "" }
function small_table(   j, w, way, line, t) {
	shapes_of("small_gemm")
	split("one split own own_split cublas", way, " ")
	table_start("lawn-small", "Products with k = " k_of[1] " by the size of C (LAWN 202, Figure 5), microseconds", \
		">n|>blocks of 64 x 16|>one kernel|>two stages|>parts of k|>our own|>ours, k in parts|>cuBLAS")
	for (j = 1; j <= shapes; j++) {
		line = n_of[j] "|" blocks_of(n_of[j])
		for (w = 1; w <= 5; w++) {
			t = seconds_of(small_row(way[w], shape[j]))
			line = line "|" (t == "" ? "-" : significant(t * 1e6, 3)) (w != 2 ? "" : "|" (t == "" ? "-" : field(best_split(shape[j]), "splits")))
		}
		table_row("", line)
	}
	table_end("Two stages: blocks of threads sum parts of k into work memory, and a second kernel adds them. The fastest of 2, 4, 8 and" \
		" 16 parts is shown, as in the paper. Ours uses the number of parts in its plan.")
}

# ---- square and thin matrices ----

# The host's product of m = n and k: of the benchmark, or squares of the profile.
function host_rate(n, k,   measured) {
	measured = rate_of("executor=host operation=thin_gemm n=" n " k=" k)
	if (measured != "" || n != k)
		return measured
	return value("host.gemm.s[n=" n "]") == "" ? "" : 2e-12 * cube(n) / value("host.gemm.s[n=" n "]")
}
function is_square(j) { return n_of[j] == k_of[j] }
function thin_table(   j) {
	table_start("lawn-thin", "Square and thin products, m = n (LAWN 202, Figure 6), Tflop/s", ">n|>k|>LAWN 202|>our own|>cuBLAS|>host")
	shapes_of("thin_gemm")
	for (j = 1; j <= shapes; j++)
		table_row("", n_of[j] "|" k_of[j] line_of(shape[j], "tflops variant=volkov|tflops variant=own|tflops variant=cublas") "|" \
			tflops(host_rate(n_of[j], k_of[j])))
	table_end()
}

# ---- figures ----

function write_point(name, columns, x, y) {
	if (y != "")
		point(name, columns, sprintf("%d %.6g", x, y))
}
function small_figure(   j, s, each, row) {
	split("one split own own_split cublas", each, " ")
	shapes_of("small_gemm")
	for (j = 1; j <= shapes; j++)
		for (s = 1; s <= 5; s++)
			if (row = small_row(each[s], shape[j]))
				write_point(each[s], "blocks us", blocks_of(n_of[j]), T[row, "seconds"] * 1e6)
}
function thin_figure(   j, v, variant) {
	split("volkov own cublas", variant, " ")
	shapes_of("thin_gemm")
	for (j = 1; j <= shapes; j++) {
		for (v = 1; v <= 3; v++)
			write_point((is_square(j) ? "square_" : "thin_") variant[v], "n tflops", n_of[j], rate_of(shape[j] " variant=" variant[v]))
		write_point((is_square(j) ? "square_" : "thin_") "host", "n tflops", n_of[j], host_rate(n_of[j], k_of[j]))
	}
}

# ---- rules ----

function syrk_rule() {
	compare_exit()
	if (worst_exit)
		plain_rule("factor", "Block triangles", "blocks of threads that exit early cost up to " sprintf("%.0f", 100 * (worst_exit - 1)) \
			" % more time than a folded grid (n = " worst_n ", k = " worst_k ")" \
			(worst_exit >= 1.05 ? ": use a folded grid." : ": early exit is good enough."), "")
}
# The most blocks for which splitting k pays, and its speedup for the fewest.
function small_rule(   j, one, t, most, gain, parts, fewest, k) {
	shapes_of("small_gemm")
	for (j = 1; j <= shapes; j++) {
		k = k_of[j]
		one = seconds_of(small_row("one", shape[j]))
		t = seconds_of(best_split(shape[j]))
		if (one == "" || t == "")
			continue
		if (!fewest) {
			fewest = blocks_of(n_of[j])
			gain = one / t
			parts = field(best_split(shape[j]), "splits")
		}
		if (t >= one)
			break
		most = blocks_of(n_of[j])
	}
	if (fewest)
		plain_rule("factor", "Small results", "with k = " k (most ? " splitting k over blocks of threads pays up to " most " blocks of 64 x 16" \
			(sm_count() ? " (" significant(most / sm_count(), 2) " a multiprocessor)" : "") "; with " fewest " the speedup is " \
			sprintf("%.1f", gain) " (" parts " parts)." : " splitting k over blocks of threads never pays."), "")
}
function thin_rule(   j, variant, rate, best, thin, n, k, v, text) {
	split("cublas own", variant, " ")
	shapes_of("thin_gemm")
	for (v = 1; v <= 2; v++) {
		best = thin = 0
		for (j = 1; j <= shapes; j++) {
			rate = rate_of(shape[j] " variant=" variant[v])
			if (is_square(j) && rate > best)
				best = rate
			if (!is_square(j) && rate > thin) {
				thin = rate
				n = n_of[j]
				k = k_of[j]
			}
		}
		if (best && thin)
			text = text (text == "" ? "" : ", ") (v == 1 ? "cuBLAS" : "ours") " " percent(thin / best, "%.0f") " % (n = " n ")"
	}
	if (text != "")
		plain_rule("factor", "Thin products", "with k = " k " the best rate of an update, as a share of the best rate of square products, is " text ".", "")
}

BEGIN {
	read_paper("volkov2008")
	load(data "/bench.tsv", T)
	read_profile(data "/profile.tsv")
	if (figure_of == "small_gemm")
		small_figure()
	else if (figure_of == "thin_gemm")
		thin_figure()
	else if (table != "") {
		syrk_table()
		trmm_table()
		small_table()
		thin_table()
	} else if (rule != "") {
		syrk_rule()
		small_rule()
		thin_rule()
	}
	if (series)
		print series
}
