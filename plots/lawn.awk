# SPDX-License-Identifier: MIT
# Tables 2 and 3 of LAWN 202 and the numbers in the text of its section 6, the paper's values beside this machine's:
#   awk -v data=DIR -v papers=data/papers -f common.awk -f bench.awk -f lawn.awk
# Reads DIR/bench.tsv, DIR/breakdown_measured.tsv and, for predictions, DIR/breakdown.tsv. Prints nothing without rows.

function known(key) { return key in paper ? paper[key] : "-" }

# ---- Table 2: the vector-thread product ----

function is_gemm(i, trans) {
	return T[i, "operation"] == "gemm" && option(T[i, "options"], "trans") == trans && T[i, "gflops"] > 0
}
# The best rate over the sizes, of the device or estimated: Tflop/s.
function best_gemm(trans, variant, without, executor,   i, best) {
	for (i = 1; i <= T["rows"]; i++)
		if (is_gemm(i, trans) && T[i, "variant"] == variant && option(T[i, "options"], "without") == without && \
			T[i, "executor"] == executor && T[i, "gflops"] + 0 > best)
			best = T[i, "gflops"] + 0
	return best ? sprintf("%.1f", best * 1e-3) : "-"
}
function limit_of(trans,   i) {
	for (i = 1; i <= T["rows"]; i++)
		if (is_gemm(i, trans) && T[i, "executor"] == "model" && !option(T[i, "options"], "without"))
			return option(T[i, "plan"], "limit")
}
function paper_gemm(gpu, name, product,   k) {
	k = gpu ".gemm." product "."
	table_row("", name "|" (product == "ab" ? "A B" : "A B^T") "|Gflop/s|" known(k "cublas") "|" known(k "estimate") "|" \
		known(k "actual") "|" known(k "no_fetch") "|" known(k "no_prefetch") "|-")
}
function of_estimate(product) {
	return percent(known("8800gtx.gemm." product ".actual") / known("8800gtx.gemm." product ".estimate"), "%.0f")
}
function our_gemm(trans, product) {
	table_row("", "this GPU|" product "|Tflop/s|" best_gemm(trans, "cublas", "", "cuda") "|" \
		best_gemm(trans, "volkov", "", "model") "|" best_gemm(trans, "volkov", "", "cuda") "|" \
		best_gemm(trans, "volkov", "fetch", "cuda") "|" best_gemm(trans, "volkov", "prefetch", "cuda") "|" \
		best_gemm(trans, "own", "", "cuda"))
}
function table_2(   n, g, gpu, name, ours) {
	if (best_gemm("nn", "volkov", "", "cuda") == "-" && best_gemm("nt", "volkov", "", "cuda") == "-")
		return
	table_start("lawn-gemm", "The vector-thread product (LAWN 202, Table 2): best rates of square matrices", \
		"<GPU|<product|<unit|>cuBLAS|>estimate|>measured|>no fetch|>no prefetch|>our own")
	n = split("fx5600 8800gtx 8800gts 8600gts", gpu, " ")
	split("FX5600,8800GTX,8800GTS,8600GTS", name, ",")
	for (g = 1; g <= n; g++) {
		paper_gemm(gpu[g], name[g], "ab")
		paper_gemm(gpu[g], name[g], "abt")
	}
	our_gemm("nn", "A B")
	our_gemm("nt", "A B^T")
	table_end()
	split(best_gemm("nn", "volkov", "", "cuda") " " best_gemm("nn", "volkov", "", "model") " " \
		best_gemm("nt", "volkov", "", "cuda") " " best_gemm("nt", "volkov", "", "model"), ours, " ")
	paragraph("Estimates come from the instructions of the inner loop; the limit here is " \
		(limit_of("nn") == "shared" ? "the path to shared memory" : limit_of("nn") == "issue" ? "the issue of instructions" : \
		limit_of("nn") == "l2" ? "L2" : "nothing known") ". Values of B are loaded from shared memory; the paper's GPUs read them within the multiply-add" \
		" instruction. No fetch: A and B are not read. No prefetch:" \
		" every fetch comes right before its use." (ours[2] > 0 && ours[4] > 0 ? " Measured is " \
		percent(ours[1] / ours[2], "%.0f") " % of the estimate for A B, " percent(ours[3] / ours[4], "%.0f") \
		" % for A B^T; in the paper, on the 8800GTX, " of_estimate("ab") " and " of_estimate("abt") " %." : ""))
}

# ---- operations by themselves ----

function moved(i) {
	return T[i, "operation"] == "laswp" ? 16 * T[i, "k"] * T[i, "n"] : 8 * T[i, "m"] * T[i, "n"]
}
# A range of rates over the rows of one way.
function range_of(operation, variant, layout, m, n, moves,   i, rate, low, high) {
	for (i = 1; i <= T["rows"]; i++) {
		if (T[i, "operation"] != operation || T[i, "variant"] != variant || option(T[i, "options"], "layout") != layout || \
			(m && T[i, "m"] != m) || (n && T[i, "n"] != n) || !(T[i, "seconds"] > 0) || (!m && T[i, "m"] != T[i, "n"]))
			continue
		rate = moves ? moved(i) / T[i, "seconds"] * 1e-9 : T[i, "gflops"]
		low = low == "" || rate < low ? rate : low
		high = rate > high ? rate : high
	}
	return low == "" ? "-" : span(low, high)
}
function span(low, high) {
	low = significant(low, 3)
	high = significant(high, 3)
	return low == high ? low : low " .. " high
}
function part_row(name, unit, theirs, ours) {
	if (ours == "-")
		return
	if (!parts++)
		table_start("lawn-parts", "Single operations (LAWN 202, section 6.2)", "<operation|<unit|>8800GTX|>this GPU")
	table_row("", name "|" unit "|" theirs "|" ours)
}
function operations() {
	part_row("transposition, n x n", "GB/s", known("8800gtx.transpose_low") " .. " known("8800gtx.transpose_high"), \
		range_of("transpose", "own", "", 0, 0, 1))
	part_row("  by cuBLAS", "GB/s", "-", range_of("transpose", "cublas", "", 0, 0, 1))
	part_row("transposition, 1024 x 64", "GB/s", known("8800gtx.transpose_1024x64"), range_of("transpose", "own", "", 1024, 64, 1))
	part_row("64 interchanges, row-major, theirs", "GB/s", known("8800gtx.pivot_row_low") " .. " known("8800gtx.pivot_row_high"), \
		range_of("laswp", "volkov", "row", 0, 0, 1))
	part_row("64 interchanges, column-major, theirs", "GB/s", known("8800gtx.pivot_column_low") " .. " \
		known("8800gtx.pivot_column_high"), range_of("laswp", "volkov", "column", 0, 0, 1))
	part_row("64 interchanges, column-major, ours", "GB/s", "-", range_of("laswp", "own", "column", 0, 0, 1))
	part_row("triangle of 64, 4096 right-hand sides: solve", "Gflop/s", known("8800gtx.trsm_64x4096"), \
		range_of("trsm", "cublas", "", 64, 4096, 0))
	part_row("  by the inverse, redundant work not counted", "Gflop/s", known("8800gtx.inverse_64x4096"), \
		range_of("trsm", "inverse", "", 64, 4096, 0))
	part_row("triangle of 64, 16384 right-hand sides: solve", "Gflop/s", "-", range_of("trsm", "cublas", "", 64, 16384, 0))
	part_row("  by the inverse", "Gflop/s", "-", range_of("trsm", "inverse", "", 64, 16384, 0))
	if (parts) {
		table_end()
		paragraph("Bytes read and written; a row interchange counts four words of each column.")
	}
}

# ---- Table 3 and the crossover ----

function collect(   i, who, k) {
	for (i = 1; i <= T["rows"]; i++) {
		if (!is_square_whole(i, "s") || T[i, "math"] ~ /^3x/)
			continue
		who = T[i, "variant"] == "openblas" ? "host" : T[i, "variant"] == "cusolver" ? "vendor" : "ours"
		k = T[i, "operation"] SUBSEP who SUBSEP T[i, "n"]
		if (T[i, "gflops"] + 0 > rate[k])
			rate[k] = T[i, "gflops"] + 0
		note_size(T[i, "operation"], T[i, "n"])
	}
	for (i = 1; i <= B["rows"]; i++) {
		if (B[i, "phase"] != "all" || B[i, "precision"] != "s" || !(B[i, "critical_s"] > 0))
			continue
		who = B[i, "variant"] == "host" ? "host_predicted" : "ours_predicted"
		k = B[i, "operation"] SUBSEP who SUBSEP B[i, "n"]
		if (1 / B[i, "critical_s"] > rate[k])
			rate[k] = 1 / B[i, "critical_s"]
		note_size(B[i, "operation"], B[i, "n"])
	}
}
function note_size(operation, n,   j) { # size[operation, 1..]: ascending
	if ((operation, n) in seen)
		return
	seen[operation, n] = 1
	for (j = sizes[operation]++; j > 0 && size[operation, j] > n + 0; j--)
		size[operation, j + 1] = size[operation, j]
	size[operation, j + 1] = n + 0
}
function best_of(operation, who,   j, k, best) {
	for (j = 1; j <= sizes[operation]; j++) {
		k = operation SUBSEP who SUBSEP size[operation, j]
		if (rate[k] > best)
			best = rate[k]
	}
	return best ? best : ""
}
# The best of the ratios at one size.
function best_speedup(operation,   j, n, best) {
	for (j = 1; j <= sizes[operation]; j++) {
		n = size[operation, j]
		if (rate[operation, "host", n] > 0 && rate[operation, "ours", n] / rate[operation, "host", n] > best)
			best = rate[operation, "ours", n] / rate[operation, "host", n]
	}
	return best ? sprintf("%.1f", best) : "-"
}
# The n from which ours is faster than the host, interpolated between two sizes by logarithms.
function crossover(operation, ours, host,   j, n, x, last, last_n, at) {
	for (j = 1; j <= sizes[operation]; j++) {
		n = size[operation, j]
		if (!(rate[operation, ours, n] > 0) || !(rate[operation, host, n] > 0))
			continue
		x = ln(rate[operation, ours, n] / rate[operation, host, n])
		if (x < 0)
			at = ""
		else if (at == "")
			at = last_n ? sprintf("%.0f", antilog(ln(last_n) + ln(n / last_n) * last / (last - x))) : "below " n
		last = x
		last_n = n
	}
	return at == "" ? (last_n ? "beyond " last_n : "-") : at
}
function machine_row(operation, name, key,   best) {
	best = best_of(operation, "ours")
	if (best == "")
		return
	if (!machines++)
		table_start("lawn-best", "Best rates and speedups over the host (LAWN 202, Table 3), single precision", \
			"<|>8800GTX Gflop/s|>over Duo|>over Quad|>this GPU Tflop/s|>host Tflop/s|>speedup")
	table_row("", name "|" known("8800gtx." key ".best") "|" known("8800gtx." key ".speedup_duo") "|" \
		known("8800gtx." key ".speedup_quad") "|" sprintf("%.1f", best * 1e-3) "|" \
		(best_of(operation, "host") == "" ? "-" : sprintf("%.2f", best_of(operation, "host") * 1e-3)) "|" best_speedup(operation))
}
# The highest rate of the host's sgemm in the profile: Tflop/s.
function host_gemm(   i, n, best) {
	if (!read_profile(data "/profile.tsv"))
		return 0
	for (i = 1; i <= P["rows"]; i++)
		if (base_of[i] == "host.gemm.s" && P[i, "value"] > 0) {
			n = argument(P[i, "parameter"], "n")
			if (2 * cube(n) / P[i, "value"] > best)
				best = 2 * cube(n) / P[i, "value"]
		}
	return best * 1e-12
}
function gemm_row(   gpu, host) {
	gpu = best_gemm("nn", "cublas", "", "cuda")
	host = host_gemm()
	if (machines && gpu != "-")
		table_row("", "sgemm|" known("8800gtx.sgemm.best") "|" known("8800gtx.sgemm.speedup_duo") "|" \
			known("8800gtx.sgemm.speedup_quad") "|" gpu "|" (host ? sprintf("%.2f|%.1f", host, gpu / host) : "-|-"))
}
function crossover_row(operation, name, theirs, quad,   measured, predicted) {
	measured = crossover(operation, "ours", "host")
	predicted = crossover(operation, "ours_predicted", "host_predicted")
	if (measured == "-" && predicted == "-")
		return
	if (!crossings++)
		table_start("lawn-crossover", "Crossover: the n from which the GPU is faster than the host", \
			"<|>8800GTX, Duo|>8800GTX, Quad|>here, predicted|>here, measured")
	table_row("", name "|" theirs "|" quad "|" predicted "|" measured)
}
function whole(   duo, quad) {
	collect()
	machine_row("potrf", "Cholesky", "cholesky")
	machine_row("getrf", "LU", "lu")
	machine_row("geqrf", "QR", "qr")
	gemm_row()
	if (machines) {
		table_end()
		paragraph("Speedup: the best over all n, with the same n on both (sgemm: best rate of cuBLAS over best rate of the" \
			" host). The host uses all its threads. The" \
			" paper's matrices start in host memory, these in device memory.")
	}
	duo = known("8800gtx.lu.crossover_duo_low") " .. " known("8800gtx.lu.crossover_duo_high")
	quad = known("8800gtx.crossover_quad_low") " .. " known("8800gtx.crossover_quad_high")
	crossover_row("potrf", "Cholesky", "always faster", quad)
	crossover_row("getrf", "LU", duo, quad)
	crossover_row("geqrf", "QR", duo, quad)
	if (crossings)
		table_end()
}

# ---- section 6: errors ----

# The kind of a row's matrix, "" of LAWN 202's own.
function kind_of(i) { return match(T[i, "options"], /kind=[^,]*/) ? substr(T[i, "options"], RSTART + 5, RLENGTH - 5) : "" }
# The error that a variant made in a matrix of that kind, "-" where it was not asked.
function error_of(operation, n, variant, math, kind,   i) {
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "operation"] == "error_" operation && T[i, "n"] == n && T[i, "variant"] == variant && T[i, "math"] == math && \
			kind_of(i) == kind && is_number(T[i, "residual"]))
			return significant(T[i, "residual"], 3)
	return "-"
}
function error_row(operation, paper, n) {
	table_row("", title_of(operation) "|" n "|" error_of(operation, n, "gpu", "fp32") "|" error_of(operation, n, "hybrid", "fp32") "|" \
		error_of(operation, n, "gpu", "3xtf32") "|" error_of(operation, n, "gpu", "3xfp16") "|" \
		error_of(operation, n, "cusolver", "fp32") "|" error_of(operation, n, "openblas", "fp32") "|" \
		(n == 8192 ? known(paper ".error_8192") : "-"))
}
function errors(   i, o, n, operation, paper, started) {
	split("getrf geqrf potrf", operation, " ")
	split("lu qr cholesky", paper, " ")
	for (o = 1; o <= 3; o++)
		for (n = 1; n <= 1048576; n *= 2)
			for (i = 1; i <= T["rows"]; i++)
				if (T[i, "operation"] == "error_" operation[o] && T[i, "n"] == n && kind_of(i) == "") {
					if (!started++)
						table_start("lawn-errors", "Backward errors as LAWN 202 measures them (section 6), in 2^-23 max|A|", \
							"<factorization|>n|>GPU|>CPU panels|>3xTF32|>3xFP16|>cuSOLVER|>OpenBLAS|>8800GTX")
					error_row(operation[o], paper[o], n)
					break
				}
	if (!started)
		return
	table_end()
	paragraph("The largest element of P A - L U, A - Q R or A - L L^T; random matrices, for Cholesky 0.001 I + X^T X; single" \
		" precision, blocks of 128 columns. All results of a line are for one matrix; the paper used another one.")
}

function over(ours, other) { return is_number(ours) && is_number(other) && other > 0 ? sprintf("%.2f", ours / other) : "-" }
function kind_row(operation, n, kind,   plain, tf32, half, other, host) {
	plain = error_of(operation, n, "gpu", "fp32", kind)
	tf32 = error_of(operation, n, "gpu", "3xtf32", kind)
	half = error_of(operation, n, "gpu", "3xfp16", kind)
	other = error_of(operation, n, "cusolver", "fp32", kind)
	host = error_of(operation, n, "openblas", "fp32", kind)
	table_row("", title_of(operation) "|" n "|" kind "|" plain "|" tf32 "|" half "|" other "|" host "|" over(plain, other) "|" over(tf32, other) "|" \
		over(half, other))
}
function kind_errors(   i, key, seen, started) {
	for (i = 1; i <= T["rows"]; i++) {
		key = T[i, "operation"] SUBSEP T[i, "n"] SUBSEP kind_of(i)
		if (T[i, "operation"] !~ /^error_/ || kind_of(i) == "" || (key in seen))
			continue
		seen[key] = 1
		if (!started++)
			table_start("kind-errors", "Backward errors by kind of matrix, in 2^-23 norm(A); last three columns: ours over cuSOLVER's", \
				"<factorization|>n|<kind|>GPU|>3xTF32|>3xFP16|>cuSOLVER|>OpenBLAS|>GPU|>3xTF32|>3xFP16")
		kind_row(substr(T[i, "operation"], 7), T[i, "n"], kind_of(i))
	}
	if (!started)
		return
	table_end()
	paragraph("Frobenius norms of P A - L U and A - Q R over A's: random matrices, matrices whose rows or columns get smaller, whose" \
		" entries are all 1 or -1, and of given condition; single precision, blocks of 128 columns.")
}

# ---- Figure 11 ----

function title_without(name) { return name == "rows" ? "row-major layout" : name == "widths" ? "sequence of widths" : name }
function paper_without(operation, name) {
	if (operation != "getrf")
		return "-"
	return name == "inverse" ? known("8800gtx.without_inverse") : name == "rows" ? known("8800gtx.without_row_major") : "-"
}
function slowdowns(   i, n, k, keys, key, j, worst, at, part, turned) {
	for (i = 1; i <= T["rows"]; i++) {
		k = slowdown_series(i, "s")
		if (k == "" || !(slower > 0))
			continue
		if (!(k in worst))
			keys = keys " " k
		if (slower > worst[k]) {
			worst[k] = slower
			at[k] = T[i, "n"]
		}
	}
	n = split(keys, key, " ")
	if (!n)
		return
	table_start("lawn-without", "Slowdown without one optimization (LAWN 202, Figure 11): the largest over all n", \
		"<factorization|<panels on|<without|>times slower|>at n|>8800GTX, LU, up to")
	for (j = 1; j <= n; j++) {
		split(key[j], part, "-")
		table_row("", title_of(part[1]) "|" (part[2] == "gpu" ? "GPU" : "CPU") "|" title_without(part[3]) "|" sprintf("%.2f", worst[key[j]]) "|" \
			at[key[j]] "|" paper_without(part[1], part[3]))
		turned = turned || part[3] == "rows"
	}
	table_end()
	paragraph("Row-major layout on the GPU is the paper's most important optimization (" known("8800gtx.without_row_major") \
		" times slower without). Here only LU uses it, for large matrices with panels on the GPU and without inverted" \
		" triangles. Other factorizations keep the caller's column-major layout." \
		(turned ? "" : " No run without it is recorded here.") " Rates of row interchanges in both layouts are above.")
}

# ---- Figure 10 ----

# "predicted / measured" in percent.
function two_shares(key, part) {
	return (key in predicted_whole ? percent(predicted_share[key, part], "%.0f") : "-") "/" \
		percent(share_of("getrf", variant_in(key), n_in(key), part), "%.0f")
}
function variant_in(key,   part) { split(key, part, SUBSEP); return part[2] }
function n_in(key,   part) { split(key, part, SUBSEP); return part[3] }
function keep_predicted(   key, i) {
	sum_breakdown(B)
	for (key in whole_of) {
		predicted_whole[key] = whole_of[key]
		for (i = 1; i <= parts; i++)
			predicted_share[key, part[i]] = critical_to[key, part[i]] / whole_of[key]
	}
}
function breakdown(   i, j, key, cells, places) {
	parts = split("update solve swap panel transfer rest", part, " ")
	keep_predicted()
	sum_breakdown(M)
	places["gpu"] = "GPU"
	places["hybrid"] = "CPU"
	places["host"] = "no GPU"
	for (i = 1; i <= M["rows"]; i++) {
		key = M[i, "operation"] SUBSEP M[i, "variant"] SUBSEP M[i, "n"]
		if (M[i, "operation"] != "getrf" || M[i, "phase"] != "all" || M[i, "precision"] != "s")
			continue
		if (!broken++)
			table_start("lawn-breakdown", "Shares of LU's time in percent (LAWN 202, Figure 10): predicted / measured", \
				"<panels on|>n|>products|>solves|>pivoting|>panels|>transfers|>waiting|>time|>records")
		cells = places[M[i, "variant"]] "|" M[i, "n"]
		for (j = 1; j <= parts; j++)
			cells = cells "|" two_shares(key, part[j])
		table_row("", cells "|" (key in predicted_whole ? with_unit(predicted_whole[key], "s") : "-") " / " \
			with_unit(plain_of[key], "s") "|" percent(whole_of[key] / plain_of[key] - 1, "%+.0f"))
	}
	if (!broken)
		return
	table_end()
	paragraph("Each moment counts for one of the operations that run. Measured shares are of runs that record every operation." \
		" The last column is the extra time of these runs over the measured time beside it. Predicted and measured runs use" \
		" the model's plan.")
}

BEGIN {
	read_paper("volkov2008")
	load(data "/bench.tsv", T)
	load(data "/breakdown.tsv", B)
	load(data "/breakdown_measured.tsv", M)
	table_2()
	operations()
	whole()
	breakdown()
	slowdowns()
	errors()
	kind_errors()
}
