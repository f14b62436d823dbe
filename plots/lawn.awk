# SPDX-License-Identifier: MIT
# Tables 2 and 3 of LAWN 202 and the numbers in the text of its section 6, the paper's values beside this machine's:
#   awk -v data=DIR -v papers=data/papers -f common.awk -f bench.awk -f lawn.awk
# Reads DIR/bench.tsv, DIR/breakdown_measured.tsv and, for predictions, DIR/breakdown.tsv and DIR/lawn.tsv. Prints nothing without rows.

function known(key) { return key in paper ? paper[key] : "-" }
# The cells of the paper's values "KEY KEY...", each PREFIX.KEY.
function papers_of(prefix, keys,   n, key, i, text) {
	n = split(keys, key, " ")
	for (i = 1; i <= n; i++)
		text = text "|" known(prefix "." key[i])
	return text
}

# ---- Table 2: the vector-thread product; best rates over the sizes, of the device or estimated ----

function of_estimate(product) {
	return percent(known(LAWN_GPU ".gemm." product ".actual") / known(LAWN_GPU ".gemm." product ".estimate"), "%.0f")
}
function our_gemm(trans) {
	return line_of("operation=gemm trans=" trans, "top variant=cublas without= executor=cuda|top variant=volkov without= executor=model|" \
		"top variant=volkov without= executor=cuda|top variant=volkov without=fetch executor=cuda|" \
		"top variant=volkov without=prefetch executor=cuda|top variant=own without= executor=cuda")
}
function table_2(   g, gpu, name, ab, abt, limit) {
	split(our_gemm("nn"), ab, "|")
	split(our_gemm("nt"), abt, "|")
	if (ab[4] == "-" && abt[4] == "-")
		return
	table_start("lawn-gemm", "The vector-thread product (LAWN 202, Table 2): best rates of square matrices", \
		"<GPU|<product|<unit|>cuBLAS|>estimate|>measured|>no fetch|>no prefetch|>our own")
	split("fx5600 8800gtx 8800gts 8600gts", gpu, " ")
	split("FX5600,8800GTX,8800GTS,8600GTS", name, ",")
	for (g = 1; g <= 4; g++) {
		table_row("", name[g] "|A B|Gflop/s" papers_of(gpu[g] ".gemm.ab", "cublas estimate actual no_fetch no_prefetch") "|-")
		table_row("", name[g] "|A B^T|Gflop/s" papers_of(gpu[g] ".gemm.abt", "cublas estimate actual no_fetch no_prefetch") "|-")
	}
	table_row("", "this GPU|A B|Tflop/s" our_gemm("nn"))
	table_row("", "this GPU|A B^T|Tflop/s" our_gemm("nt"))
	limit = option(T[first_with("operation=gemm trans=nn executor=model without=", "gflops"), "plan"], "limit")
	table_end("Estimates come from the instructions of the inner loop; the limit here is " \
		(limit == "shared" ? "the path to shared memory" : limit == "issue" ? "the issue of instructions" : \
		limit == "l2" ? "L2" : "nothing known") ". Values of B are loaded from shared memory; the paper's GPUs read them within the multiply-add" \
		" instruction. No fetch: A and B are not read. No prefetch:" \
		" every fetch comes right before its use." (ab[3] > 0 && abt[3] > 0 ? " Measured is " \
		percent(ab[4] / ab[3], "%.0f") " % of the estimate for A B, " percent(abt[4] / abt[3], "%.0f") \
		" % for A B^T; in the paper, on the " LAWN_NAME ", " of_estimate("ab") " and " of_estimate("abt") " %." : "") reads_of_blocks(ab[4]))
}
# Section 4.4: blocks of 64 x 16 read 1/64 + 1/16 of a word for each multiply-add.
function reads_of_blocks(tflops,   ours) {
	ours = tflops * 2e12 * (1 / 64 + 1 / 16)
	if (!(ours > 0) || !read_profile(data "/profile.tsv") || value("gpu.dram.read") == "")
		return ""
	return " Blocks of 64 x 16 read " with_unit(ours, "B/s") " of A and B, " percent(ours / value("gpu.dram.read"), "%.0f") \
		" % of the rate of DRAM" (value("gpu.l2.read") == "" ? "" : " and " percent(ours / value("gpu.l2.read"), "%.0f") " % of that of L2") \
		"; in the paper " significant(known(LAWN_GPU ".gemm.ab.actual") * 2 * (1 / 64 + 1 / 16), 2) " GB/s, 43 % of DRAM's."
}

# ---- operations by themselves ----

# The range of rates of some rows, GB/s of transpositions and row interchanges.
function range_of(terms,   n, list, j, i, rate, low, high) {
	n = split(rows_with(terms), list, " ")
	for (j = 1; j <= n; j++) {
		i = list[j]
		if (!(T[i, "seconds"] > 0))
			continue
		rate = T[i, "operation"] == "trsm" ? T[i, "gflops"] : \
			(T[i, "operation"] == "laswp" ? 16 * T[i, "k"] * T[i, "n"] : 8 * T[i, "m"] * T[i, "n"]) / T[i, "seconds"] * 1e-9
		low = low == "" || rate < low ? rate : low
		high = rate > high ? rate : high
	}
	low = low == "" ? "-" : significant(low, 3)
	high = significant(high, 3)
	return low == "-" || low == high ? low : low " .. " high
}
# theirs: one key of the paper or both ends, NAME_low and NAME_high.
function part_row(name, theirs, terms,   ours) {
	ours = range_of("operation=" terms)
	if (ours != "-")
		table_row("", name "|" (terms ~ /^trsm/ ? "Gflop/s" : "GB/s") "|" (LAWN_GPU "." theirs "_low" in paper ? known(LAWN_GPU "." theirs "_low") " .. " \
			known(LAWN_GPU "." theirs "_high") : known(LAWN_GPU "." theirs)) "|" ours)
}
function operations() {
	table_start("lawn-parts", "Single operations (LAWN 202, section 6.2)", "<operation|<unit|>" LAWN_NAME "|>this GPU")
	part_row("transposition, n x n", "transpose", "transpose variant=own square=1")
	part_row("  by cuBLAS", "", "transpose variant=cublas square=1")
	part_row("transposition, 1024 x 64", "transpose_1024x64", "transpose variant=own m=1024 n=64")
	part_row("64 interchanges, row-major, theirs", "pivot_row", "laswp variant=volkov layout=row square=1")
	part_row("64 interchanges, column-major, theirs", "pivot_column", "laswp variant=volkov layout=column square=1")
	part_row("64 interchanges, column-major, ours", "", "laswp variant=own layout=column square=1")
	part_row("triangle of 64, 4096 right-hand sides: solve", "trsm_64x4096", "trsm variant=cublas m=64 n=4096")
	part_row("  by the inverse, redundant work not counted", "inverse_64x4096", "trsm variant=inverse m=64 n=4096")
	part_row("triangle of 64, 16384 right-hand sides: solve", "", "trsm variant=cublas m=64 n=16384")
	part_row("  by the inverse", "", "trsm variant=inverse m=64 n=16384")
	table_end("Bytes read and written; a row interchange counts four words of each column. The inverse is formed before.")
}

# Section 3.7: 2^18 words, n words apart.
function strides(   j, count, n) {
	count = numbers_of("operation=scopy", "n", n)
	table_start("lawn-strides", "Copies of 2^18 words with a stride (LAWN 202, section 3.7), microseconds", \
		">stride in words|>" LAWN_NAME "|>cuBLAS|>our own")
	for (j = 1; j <= count; j++)
		table_row("", n[j] "|" known(LAWN_GPU ".stride" n[j] "_copy") "|" copy_time("cublas", n[j]) "|" copy_time("own", n[j]))
	table_end("By cublasScopy, and by our kernel that copies matrices: the words are one row to it, and most of its threads have no work. Calls follow each other with the same words: L2 is warm.")
}
function copy_time(variant, n,   i) {
	i = fastest("operation=scopy variant=" variant " n=" n)
	return i ? significant(T[i, "seconds"] * 1e6, 3) : "-"
}

# ---- Table 3 and the crossover ----

function collect(   i) {
	for (i = 1; i <= T["rows"]; i++) {
		if (is_square_whole(i, "s") && T[i, "math"] !~ /^3x/ && T[i, "gflops"] + 0 > 0)
			keep(T[i, "operation"] " " (T[i, "variant"] == "openblas" ? "host" : T[i, "variant"] ~ /^cusolver/ ? "vendor" : "ours"), \
				T[i, "n"] + 0, T[i, "gflops"] + 0)
		if (is_whole_operation(T[i, "operation"]) && field(i, "from") == "host" && field(i, "without") == "" && T[i, "precision"] == "s" && \
			T[i, "m"] == T[i, "n"] && T[i, "math"] !~ /^3x/ && T[i, "gflops"] + 0 > 0)
			keep(T[i, "operation"] " travelling", T[i, "n"] + 0, T[i, "gflops"] + 0)
	}
	for (i = 1; i <= B["rows"]; i++)
		if (B[i, "phase"] == "all" && B[i, "precision"] == "s" && B[i, "critical_s"] > 0)
			keep(B[i, "operation"] " " (B[i, "variant"] == "host" ? "host" : "ours") " predicted", B[i, "n"] + 0, 1 / B[i, "critical_s"])
	for (i = 1; i <= L["rows"]; i++)
		if (option(L[i, "options"], "from") == "host" && L[i, "seconds"] > 0)
			keep(L[i, "operation"] " own predicted", L[i, "n"] + 0, 1 / L[i, "seconds"])
}
# The largest value of a series, of all n or over another series at the same n.
function best_of(series, other,   j, n, count, x, best) {
	count = ascending(x_of[series], n)
	for (j = 1; j <= count; j++)
		if (other == "" || (other, n[j]) in kept) {
			x = kept[series, n[j]] / (other == "" ? 1 : kept[other, n[j]])
			best = x > best ? x : best
		}
	return best
}
# The n from which ours is faster than the host, interpolated between two sizes by logarithms.
function crossover(ours, host,   j, count, list, n, x, last, last_n, at) {
	count = ascending(x_of[ours], list)
	for (j = 1; j <= count; j++) {
		n = list[j]
		if (!((host, n) in kept))
			continue
		x = ln(kept[ours, n] / kept[host, n])
		if (x < 0)
			at = ""
		else if (at == "")
			at = last_n ? sprintf("%.0f", antilog(ln(last_n) + ln(n / last_n) * last / (last - x))) : "below " n
		last = x
		last_n = n
	}
	return at == "" ? (last_n ? "beyond " last_n : "-") : at
}
function machine_row(operation, name, key,   ours, host) {
	ours = operation " ours"
	host = best_of(operation " host")
	if (!(ours in x_of))
		return 0
	table_row("", name papers_of(LAWN_GPU "." key, "best speedup_duo speedup_quad") "|" scaled(best_of(ours), 1e-3, "%.1f") "|" \
		scaled(best_of(operation " travelling"), 1e-3, "%.1f") "|" scaled(host, 1e-3, "%.2f") "|" \
		scaled(best_of(ours, operation " host"), 1, "%.1f") "|" scaled(best_of(operation " travelling", operation " host"), 1, "%.1f"))
	return 1
}
function scaled(x, factor, format) { return x == "" ? "-" : sprintf(format, x * factor) }
# Speedups over the host at every n that both have.
function add_speedups(operation, name, place, series,   j, count, n) {
	count = ascending(x_of[operation " host"], n)
	for (j = 1; j <= count; j++)
		if ((operation " " series, n[j]) in kept)
			add_cell(name ", " place, n[j], sprintf("%.1f", kept[operation " " series, n[j]] / kept[operation " host", n[j]]))
}
# The library's best rate over that of the host's sgemm, in the profile or beside thin products: Tflop/s.
function gemm_row(   gpu, i, n, host) {
	gpu = one_cell("operation=gemm trans=nn", "top variant=cublas without= executor=cuda")
	if (gpu == "-")
		return
	read_profile(data "/profile.tsv")
	for (i = 1; i <= P["rows"]; i++)
		if (base_of[i] == "host.gemm.s" && P[i, "value"] > 0) {
			n = argument(P[i, "parameter"], "n")
			host = 2e-12 * cube(n) / P[i, "value"] > host ? 2e-12 * cube(n) / P[i, "value"] : host
		}
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "operation"] == "thin_gemm" && T[i, "variant"] == "openblas" && T[i, "gflops"] * 1e-3 > host)
			host = T[i, "gflops"] * 1e-3
	table_row("", "sgemm" papers_of(LAWN_GPU ".sgemm", "best speedup_duo speedup_quad") "|" gpu "|-|" \
		(host ? sprintf("%.2f|%.1f|-", host, gpu / host) : "-|-|-"))
}
function crossover_row(operation, name, theirs,   measured, predicted) {
	measured = crossover(operation " ours", operation " host")
	predicted = crossover(operation " ours predicted", operation " host predicted")
	if (measured != "-" || predicted != "-")
		table_row("", name "|" theirs "|" known(LAWN_GPU ".crossover_quad_low") " .. " known(LAWN_GPU ".crossover_quad_high") "|" predicted "|" measured \
			"|" crossover(operation " own predicted", operation " host predicted") "|" crossover(operation " travelling", operation " host"))
}
function whole(   duo, i, each, part) {
	collect()
	table_start("lawn-best", "Best rates and speedups over the host (LAWN 202, Table 3), single precision", \
		"<|>" LAWN_NAME " Gflop/s|!>over Duo|>over Quad|>this GPU Tflop/s|>from host|>host Tflop/s|>speedup|>from host")
	if (machine_row("potrf", "Cholesky", "cholesky") + machine_row("getrf", "LU", "lu") + machine_row("geqrf", "QR", "qr"))
		gemm_row()
	table_end("Speedup: the best over all n, with the same n on both (sgemm: best rate of cuBLAS over best rate of the" \
		" host). The host uses all its threads. The paper's matrices start and end in host memory; ours do in the columns \"from host\".")
	split("potrf,Cholesky getrf,LU geqrf,QR", each, " ")
	for (i = 1; i <= 3; i++) {
		split(each[i], part, ",")
		add_speedups(part[1], part[2], "device memory", "ours")
		add_speedups(part[1], part[2], "from host", "travelling")
	}
	print_cells("lawn-speedup", "Speedup over the host by n (LAWN 202, Figure 8), single precision, all threads of the host")
	duo = known(LAWN_GPU ".lu.crossover_duo_low") " .. " known(LAWN_GPU ".lu.crossover_duo_high")
	table_start("lawn-crossover", "Crossover: the n from which the GPU is faster than the host", \
		"<|>" LAWN_NAME ", Duo|>" LAWN_NAME ", Quad|>here, predicted|>measured|>from host, predicted|>measured")
	crossover_row("potrf", "Cholesky", "always faster")
	crossover_row("getrf", "LU", duo)
	crossover_row("geqrf", "QR", duo)
	table_end("The paper's matrices start and end in host memory. From host, predicted: by the paper's own plans; measured: the fastest of all." \
		" The host: predicted by our own algorithms on its cores, measured by OpenBLAS.")
}

# ---- section 6: errors; a matrix of LAWN 202 has no kind ----

function errors(   i, o, n, count, operation, paper_of) {
	table_start("lawn-errors", "Backward errors as LAWN 202 measures them (section 6), in 2^-23 max|A|", \
		"<factorization|>n|>GPU|>inverse|>CPU panels|>inverse|>3xTF32|>3xFP16|>cuSOLVER|>OpenBLAS|>" LAWN_NAME)
	split("getrf geqrf potrf", operation, " ")
	split("lu qr cholesky", paper_of, " ")
	for (o = 1; o <= 3; o++) {
		count = numbers_of("operation=error_" operation[o] " kind=", "n", n)
		for (i = 1; i <= count; i++)
			table_row("", title_of(operation[o]) "|" n[i] line_of("operation=error_" operation[o] " kind= n=" n[i], \
				"error variant=gpu math=fp32 with=|error variant=gpu math=fp32 with=inverse|" \
				"error variant=hybrid math=fp32 with=|error variant=hybrid math=fp32 with=inverse|" \
				"error variant=gpu math=3xtf32|error variant=gpu math=3xfp16|error variant=cusolver math=fp32|" \
				"error variant=openblas math=fp32") "|" (n[i] == 8192 ? known(paper_of[o] ".error_8192") : "-"))
	}
	table_end("The largest element of P A - L U, A - Q R or A - L L^T; random matrices, for Cholesky 0.001 I + X^T X; single" \
		" precision, blocks of 128 columns. All results of a line are for one matrix; the paper used another one. Inverse: the left" \
		" neighbour's plan of LU with products by inverted triangles in place of solves, which the paper found as accurate.")
}
function over(ours, other) { return is_number(ours) && is_number(other) && other > 0 ? sprintf("%.2f", ours / other) : "-" }
function kind_errors(   i, key, done, cells, c) {
	table_start("kind-errors", "Backward errors by kind of matrix, in 2^-23 norm(A); last three columns: ours over cuSOLVER's", \
		"<factorization|>n|<kind|>GPU|>3xTF32|>3xFP16|>cuSOLVER|>OpenBLAS|>GPU|>3xTF32|>3xFP16")
	for (i = 1; i <= T["rows"]; i++) {
		key = "operation=" T[i, "operation"] " kind=" field(i, "kind") " n=" T[i, "n"]
		if (T[i, "operation"] !~ /^error_/ || field(i, "kind") == "" || (key in done))
			continue
		done[key] = 1
		cells = line_of(key, "error variant=gpu math=fp32 with=|error variant=gpu math=3xtf32|error variant=gpu math=3xfp16|" \
			"error variant=cusolver math=fp32|error variant=openblas math=fp32")
		split(cells, c, "|")
		table_row("", title_of(substr(T[i, "operation"], 7)) "|" T[i, "n"] "|" field(i, "kind") cells "|" over(c[2], c[5]) "|" over(c[3], c[5]) "|" \
			over(c[4], c[5]))
	}
	table_end("Frobenius norms of P A - L U and A - Q R over A's: random matrices, matrices whose rows or columns get smaller, whose" \
		" entries are all 1 or -1, and of given condition; single precision, blocks of 128 columns.")
}

# ---- Figure 11 ----

function title_without(name) { return name == "rows" ? "row-major layout" : name == "widths" ? "sequence of widths" : name }
function paper_without(operation, name) {
	return operation != "getrf" ? "-" : name == "inverse" ? known(LAWN_GPU ".without_inverse") : name == "rows" ? known(LAWN_GPU ".without_row_major") : "-"
}
function slowdowns(   i, n, k, keys, key, worst, at, part, turned) {
	for (i = 1; i <= T["rows"]; i++) {
		k = slowdown_series(i, "s") # LAWN 202's own plans: lawn_own.awk
		if (k == "" || k ~ /-lawn-/ || !(slower > 0))
			continue
		if (!(k in worst))
			keys = keys " " k
		if (slower > worst[k]) {
			worst[k] = slower
			at[k] = T[i, "n"]
		}
	}
	table_start("lawn-without", "Slowdown without one optimization (LAWN 202, Figure 11): the largest over all n", \
		"<factorization|<panels on|<without|>times slower|>at n|>" LAWN_NAME ", LU, up to")
	n = split(keys, key, " ")
	for (i = 1; i <= n; i++) {
		split(key[i], part, "-")
		table_row("", title_of(part[1]) "|" (part[2] == "gpu" ? "GPU" : "CPU") "|" title_without(part[3]) "|" sprintf("%.2f", worst[key[i]]) "|" \
			at[key[i]] "|" paper_without(part[1], part[3]))
		turned = turned || part[3] == "rows"
	}
	table_end("Row-major layout on the GPU is the paper's most important optimization (" known(LAWN_GPU ".without_row_major") \
		" times slower without). Here only LU uses it, for large matrices with panels on the GPU and without inverted" \
		" triangles. Other factorizations keep the caller's column-major layout." \
		(turned ? "" : " No run without it is recorded here.") " Rates of row interchanges in both layouts are above.")
}

# ---- Figure 10 ----

function share_in(kind, key, part) {
	return (kind, key) in whole_of ? percent(critical_to[kind, key, part] / whole_of[kind, key], "%.0f") : "-"
}
function breakdown(   i, j, key, cells, part) {
	split("update solve swap panel transfer rest", part, " ")
	sum_breakdown(B, "predicted")
	sum_breakdown(M, "measured")
	table_start("lawn-breakdown", "Shares of LU's time in percent (LAWN 202, Figure 10): predicted / measured", \
		"<panels on|>n|>products|>solves|>pivoting|>panels|>transfers|>waiting|>time|>records")
	for (i = 1; i <= M["rows"]; i++) {
		key = M[i, "operation"] SUBSEP M[i, "variant"] SUBSEP M[i, "n"]
		if (M[i, "operation"] != "getrf" || M[i, "phase"] != "all" || M[i, "precision"] != "s")
			continue
		cells = (M[i, "variant"] == "gpu" ? "GPU" : M[i, "variant"] == "hybrid" ? "CPU" : M[i, "variant"] == "lawn" ? "CPU, own" : "no GPU") "|" M[i, "n"]
		for (j = 1; j <= 6; j++)
			cells = cells "|" share_in("predicted", key, part[j]) "/" share_in("measured", key, part[j])
		table_row("", cells "|" with_unit(whole_of["predicted", key], "s") " / " with_unit(plain_of["measured", key], "s") "|" \
			percent(whole_of["measured", key] / plain_of["measured", key] - 1, "%+.0f"))
	}
	table_end("Each moment counts for one of the operations that run. Measured shares are of runs that record every operation." \
		" The last column is the extra time of these runs over the measured time beside it. Predicted and measured runs use" \
		" the model's plan; own: the paper's.")
}

BEGIN {
	read_paper("volkov2008")
	load(data "/bench.tsv", T)
	load(data "/breakdown.tsv", B)
	load(data "/breakdown_measured.tsv", M)
	load(data "/lawn.tsv", L)
	table_2()
	operations()
	strides()
	whole()
	breakdown()
	slowdowns()
	errors()
	kind_errors()
}
