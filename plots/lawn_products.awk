# SPDX-License-Identifier: MIT
# LAWN 202's products of block triangles (section 4.2), for small C (4.3, Figure 5) and of thin matrices (Figure 6):
#   awk -v data=DIR -v papers=data/papers -f common.awk -f lawn_products.awk, and one of
#   -v folder=WORK -v series=small_gemm   writes WORK/SERIES.tsv (blocks, us); prints the number of series
#   -v folder=WORK -v series=thin_gemm    the same (n, tflops)
#   -v table=yes    the tables, as markup
#   -v rule=yes     a design rule each
# Reads DIR/bench.tsv and, for the host, DIR/profile.tsv. Prints nothing without a row for it.

# ---- rows ----

# seconds[operation, variant, options, n, k] and gflops[...]; sizes[operation]: "n k" of each, ascending by n.
function take_rows(   i, o, key, operation) {
	for (i = 1; i <= T["rows"]; i++) {
		operation = T[i, "operation"]
		if (operation !~ /^(syrk|trmm|small_gemm|thin_gemm)$/ || T[i, "executor"] != "cuda" || !(T[i, "seconds"] > 0))
			continue
		o = T[i, "options"]
		sub(/^l2=warm,?/, "", o)
		key = operation SUBSEP T[i, "variant"] SUBSEP o SUBSEP T[i, "n"] SUBSEP T[i, "k"]
		seconds[key] = T[i, "seconds"] + 0
		gflops[key] = T[i, "gflops"] + 0
		note_size(operation, T[i, "n"] + 0, T[i, "k"] + 0)
	}
}
function note_size(operation, n, k,   j) {
	if ((operation, n, k) in noted)
		return
	noted[operation, n, k] = 1
	for (j = sizes[operation]++; j > 0 && (size_n[operation, j] > n || (size_n[operation, j] == n && size_k[operation, j] > k)); j--) {
		size_n[operation, j + 1] = size_n[operation, j]
		size_k[operation, j + 1] = size_k[operation, j]
	}
	size_n[operation, j + 1] = n
	size_k[operation, j + 1] = k
}
function time_of(operation, variant, options, n, k,   key) {
	key = operation SUBSEP variant SUBSEP options SUBSEP n SUBSEP k
	return key in seconds ? seconds[key] : ""
}
function rate_of(operation, variant, options, n, k,   key) {
	key = operation SUBSEP variant SUBSEP options SUBSEP n SUBSEP k
	return key in gflops ? gflops[key] * 1e-3 : ""
}
function tflops(x) { return x == "" ? "-" : significant(x, 3) }
function us(t) { return t == "" ? "-" : significant(t * 1e6, 3) }
# How much more time than the other, in percent.
function excess(t, other) { return t == "" || other == "" ? "-" : sprintf("%+.1f", 100 * (t / other - 1)) }

# ---- block triangles ----

# worst_exit: the largest ratio of times, exit over folded, at worst_n and worst_k; peak[way]: the best rates.
function compare_exit(   j, n, k, folded, left, r) {
	for (j = 1; j <= sizes["syrk"]; j++) {
		n = size_n["syrk", j]
		k = size_k["syrk", j]
		folded = time_of("syrk", "volkov", "blocks=folded", n, k)
		left = time_of("syrk", "volkov", "blocks=exit", n, k)
		if (folded == "" || left == "")
			continue
		if (rate_of("syrk", "volkov", "blocks=folded", n, k) > peak["folded"])
			peak["folded"] = rate_of("syrk", "volkov", "blocks=folded", n, k)
		if (rate_of("syrk", "volkov", "blocks=exit", n, k) > peak["exit"])
			peak["exit"] = rate_of("syrk", "volkov", "blocks=exit", n, k)
		r = left / folded
		if (r > worst_exit) {
			worst_exit = r
			worst_n = n
			worst_k = k
		}
	}
}
function syrk_table(   j, n, k) {
	if (!sizes["syrk"])
		return
	table_start("lawn-syrk", "The lower triangle of C + A A^T in the vector-thread product (LAWN 202, section 4.2), Tflop/s", \
		">n|>k|>folded|>early exit|>all of C|>our own|>cuBLAS|>exit, % more time")
	for (j = 1; j <= sizes["syrk"]; j++) {
		n = size_n["syrk", j]
		k = size_k["syrk", j]
		table_row("", n "|" k "|" tflops(rate_of("syrk", "volkov", "blocks=folded", n, k)) "|" \
			tflops(rate_of("syrk", "volkov", "blocks=exit", n, k)) "|" tflops(rate_of("syrk", "volkov", "blocks=full", n, k)) "|" \
			tflops(rate_of("syrk", "own", "", n, k)) "|" tflops(rate_of("syrk", "cublas", "", n, k)) "|" \
			excess(time_of("syrk", "volkov", "blocks=exit", n, k), time_of("syrk", "volkov", "blocks=folded", n, k)))
	}
	table_end()
	compare_exit()
	paragraph("Rates count the triangle alone. Folded: one block of threads for each 64 x 16 block of the triangle, in a" \
		" rectangular grid. Early exit: one for each block of C; those above the diagonal end at once." \
		(worst_exit ? " The best rate of early exit is " sprintf("%.1f", 100 * (1 - peak["exit"] / peak["folded"])) " % lower, and it takes at" \
		" most " sprintf("%.1f", 100 * (worst_exit - 1)) " % more time (n = " worst_n ", k = " worst_k "); on the 8800GTX " \
		paper["8800gtx.early_exit_peak"] " % and about " paper["8800gtx.early_exit_worst"] " %." : ""))
}
function trmm_table(   j, n, w, way, name, ways, full) {
	if (!sizes["trmm"])
		return
	table_start("lawn-trmm", "Triangular A or B in the vector-thread product (LAWN 202, section 4.2), Tflop/s", \
		">n|<triangle|>adjusted|>all of k|>cuBLAS|>speedup over all of k")
	ways = split("side=l,uplo=l;side=l,uplo=u;side=r,uplo=l;side=r,uplo=u", way, ";")
	split("lower A,upper A,lower B,upper B", name, ",")
	for (j = 1; j <= sizes["trmm"]; j++) {
		n = size_n["trmm", j]
		full = rate_of("trmm", "volkov", way[1] ",blocks=full", n, n)
		for (w = 1; w <= ways; w++)
			table_row("", n "|" name[w] "|" tflops(rate_of("trmm", "volkov", way[w], n, n)) "|" (w == 1 ? tflops(full) : "-") "|" \
				tflops(rate_of("trmm", "cublas", way[w], n, n)) "|" (full == "" || rate_of("trmm", "volkov", way[w], n, n) == "" ? "-" : \
				sprintf("%.2f", rate_of("trmm", "volkov", way[w], n, n) / full)))
	}
	table_end()
	paragraph("Adjusted: the loop over k of a block of threads skips the zeros of the triangle; its body is the same." \
		" Rates count the triangle alone; the largest possible speedup is 2.")
}

# ---- small C ----

function blocks_of(n) { return int((n + 63) / 64) * int((n + 15) / 16) }
# The fastest number of parts of k, at least two, into best_splits; its time, "" without any.
function best_split(n, k,   s, t, best) {
	best = ""
	best_splits = ""
	for (s = 2; s <= 1024; s *= 2) {
		t = time_of("small_gemm", "volkov", "splits=" s, n, k)
		if (t != "" && (best == "" || t < best)) {
			best = t
			best_splits = s
		}
	}
	return best
}
function small_time(way, n, k) {
	return way == "one" ? time_of("small_gemm", "volkov", "splits=1", n, k) : way == "split" ? best_split(n, k) : \
		way == "own" ? time_of("small_gemm", "own", "splits=1", n, k) : \
		way == "own_split" ? time_of("small_gemm", "own", "splits=plan", n, k) : time_of("small_gemm", "cublas", "", n, k)
}
function small_table(   j, n, k, t) {
	if (!sizes["small_gemm"])
		return
	table_start("lawn-small", "Products with k = " size_k["small_gemm", 1] " by the size of C (LAWN 202, Figure 5), microseconds", \
		">n|>blocks of 64 x 16|>one kernel|>two stages|>parts of k|>our own|>ours, k in parts|>cuBLAS")
	for (j = 1; j <= sizes["small_gemm"]; j++) {
		n = size_n["small_gemm", j]
		k = size_k["small_gemm", j]
		t = best_split(n, k)
		table_row("", n "|" blocks_of(n) "|" us(small_time("one", n, k)) "|" us(t) "|" (best_splits == "" ? "-" : best_splits) "|" \
			us(small_time("own", n, k)) "|" us(small_time("own_split", n, k)) "|" us(small_time("cublas", n, k)))
	}
	table_end()
	paragraph("Two stages: blocks of threads sum parts of k into work memory, and a second kernel adds them. The fastest of 2, 4, 8 and" \
		" 16 parts is shown, as in the paper. Ours uses the number of parts in its plan.")
}

# ---- square and thin matrices ----

function host_rate(n) { return value("host.gemm.s[n=" n "]") == "" ? "" : 2e-12 * cube(n) / value("host.gemm.s[n=" n "]") }
function is_square(j) { return size_n["thin_gemm", j] == size_k["thin_gemm", j] }
function thin_table(   j, n, k) {
	if (!sizes["thin_gemm"])
		return
	table_start("lawn-thin", "Square and thin products, m = n (LAWN 202, Figure 6), Tflop/s", ">n|>k|>LAWN 202|>our own|>cuBLAS|>host")
	for (j = 1; j <= sizes["thin_gemm"]; j++) {
		n = size_n["thin_gemm", j]
		k = size_k["thin_gemm", j]
		table_row("", n "|" k "|" tflops(rate_of("thin_gemm", "volkov", "", n, k)) "|" tflops(rate_of("thin_gemm", "own", "", n, k)) "|" \
			tflops(rate_of("thin_gemm", "cublas", "", n, k)) "|" (is_square(j) ? tflops(host_rate(n)) : "-"))
	}
	table_end()
}

# ---- figures ----

function write_point(name, x, y, columns,   out) {
	if (y == "")
		return
	out = folder "/" name ".tsv"
	if (!(name in begun)) {
		begun[name] = 1
		print columns >out
		written++
	}
	printf "%d\t%.6g\n", x, y >out
}
function small_figure(   j, s, n, t, each, count) {
	count = split("one split own own_split cublas", each, " ")
	for (j = 1; j <= sizes["small_gemm"]; j++)
		for (s = 1; s <= count; s++) {
			n = size_n["small_gemm", j]
			t = small_time(each[s], n, size_k["small_gemm", j])
			write_point(each[s], blocks_of(n), t == "" ? "" : t * 1e6, "blocks\tus")
		}
}
function thin_figure(   j, v, n, k, variant, count, shape) {
	count = split("volkov own cublas", variant, " ")
	for (j = 1; j <= sizes["thin_gemm"]; j++) {
		n = size_n["thin_gemm", j]
		k = size_k["thin_gemm", j]
		shape = is_square(j) ? "square" : "thin"
		for (v = 1; v <= count; v++)
			write_point(shape "_" variant[v], n, rate_of("thin_gemm", variant[v], "", n, k), "n\ttflops")
		if (is_square(j))
			write_point("square_host", n, host_rate(n), "n\ttflops")
	}
}

# ---- rules ----

function syrk_rule() {
	compare_exit()
	if (worst_exit)
		item("Block triangles: blocks of threads that exit early cost up to " sprintf("%.0f", 100 * (worst_exit - 1)) \
			" % more time than a folded grid (n = " worst_n ", k = " worst_k ")" \
			(worst_exit >= 1.05 ? ": use a folded grid." : ": early exit is good enough."))
}
# The most blocks for which splitting k pays, and its speedup for the fewest.
function small_rule(   j, n, k, one, t, most, gain, parts, fewest) {
	for (j = 1; j <= sizes["small_gemm"]; j++) {
		n = size_n["small_gemm", j]
		k = size_k["small_gemm", j]
		one = small_time("one", n, k)
		t = best_split(n, k)
		if (one == "" || t == "")
			continue
		if (!fewest) {
			fewest = blocks_of(n)
			gain = one / t
			parts = best_splits
		}
		if (t < one)
			most = blocks_of(n)
	}
	if (fewest)
		item("Small results: with k = " k (most ? " splitting k over blocks of threads pays up to " most " blocks of 64 x 16" \
			(sm_count() ? " (" significant(most / sm_count(), 2) " a multiprocessor)" : "") "; with " fewest " the speedup is " \
			sprintf("%.1f", gain) " (" parts " parts)." : " splitting k over blocks of threads never pays."))
}
function thin_rule(   j, variant, rate, best, thin, n, v, text) {
	split("cublas own", variant, " ")
	for (v = 1; v <= 2; v++) {
		best = thin = 0
		for (j = 1; j <= sizes["thin_gemm"]; j++) {
			rate = rate_of("thin_gemm", variant[v], "", size_n["thin_gemm", j], size_k["thin_gemm", j])
			if (is_square(j) && rate > best)
				best = rate
			if (!is_square(j) && rate > thin) {
				thin = rate
				n = size_n["thin_gemm", j]
				k = size_k["thin_gemm", j]
			}
		}
		if (best && thin)
			text = text (text == "" ? "" : ", ") (v == 1 ? "cuBLAS" : "ours") " " percent(thin / best, "%.0f") " % (n = " n ")"
	}
	if (text != "")
		item("Thin products: with k = " k " the best rate of an update, as a share of the best rate of square products, is " text ".")
}

BEGIN {
	read_paper("volkov2008")
	load(data "/bench.tsv", T)
	read_profile(data "/profile.tsv")
	take_rows()
	if (series == "small_gemm")
		small_figure()
	else if (series == "thin_gemm")
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
	if (written)
		print written
}
