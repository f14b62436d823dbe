# SPDX-License-Identifier: MIT
# Kerr's benchmark of QR (measure --kerr) as series for its figure, or as tables:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f kerr.awk
# With a folder: gemv_NAME.tsv (Figure 2), run_NAME.tsv (Figures 3 and 4: of every width the fastest), host_THREADS.tsv
# (Figure 5: speedup of our fastest), apply_VARIANT_{a,q}.tsv (Figure 6), width_VARIANT_M.tsv, and
# paper_NAME.tsv from Table 2; prints the number of series. With a table: markup, predicted and measured.

# ---- for the figure ----

function rate(i, time) { return is_time(time) ? sprintf("%.6g", T[i, "flops"] / time * 1e-9) : "NaN" }
function both_rates(i) { return rate(i, T[i, "seconds"]) " " rate(i, T[i, "predicted"]) }
function write_run(name, i) {
	if (i)
		point("run_" name, "m gflop seconds predicted gflops gflops_predicted", sprintf("%d %.6g %s %s %s", T[i, "m"], T[i, "flops"] * 1e-9, \
			T[i, "seconds"], text_of(T[i, "predicted"]), both_rates(i)))
}
function write_rates(name, i) {
	if (i)
		point(name, "m gflops predicted", T[i, "m"] " " both_rates(i))
}
function write_apply(v, m,   i) {
	i = fastest("m=" m " variant=" v " phase=total")
	write_rates("apply_" v "_a", fastest("m=" m " variant=" v " phase=apply_a r=" T[i, "r"]))
	write_rates("apply_" v "_q", fastest("m=" m " variant=" v " phase=apply_q r=" T[i, "r"]))
}
function write_size(m,   t, i, ours, kind, k) {
	ours = fastest("m=" m " variant=ahead phase=total")
	write_run("reflectors", fastest("m=" m " variant=reflectors phase=total"))
	write_run("blas", fastest("m=" m " variant=blas phase=total"))
	write_run("kerr", fastest("m=" m " variant=kerr phase=total"))
	write_run("cusolver", fastest("m=" m " variant=cusolver phase=total"))
	write_run("ahead", ours)
	write_apply("blas", m)
	write_apply("steps", m)
	for (t = 1; t <= threads; t++) {
		i = fastest("m=" m " variant=lapack phase=total threads=" thread[t])
		write_run("lapack_" thread[t], i)
		if (i && ours)
			point("host_" thread[t], "m ratio", sprintf("%d %.6g", m, T[i, "seconds"] / T[ours, "seconds"]))
	}
	split("cublas kerr tuned t_cublas t_kerr t_tuned", kind, " ")
	for (k = 1; k <= 6; k++)
		write_rates("gemv_" kind[k], fastest("m=" m " variant=gemv_" kind[k] " phase=gemv"))
}
function write_widths(v, m,   w, i) {
	for (w = 16; w <= 256; w *= 2)
		if (i = fastest("m=" m " variant=" v " phase=total r=" w))
			point("width_" v "_" m, "r seconds predicted", w " " T[i, "seconds"] " " text_of(T[i, "predicted"]))
}
# Table 2, with Table 1's operations by its formulas: the printed ones are not consistent.
function write_paper(gpu, shape, m,   key, flop, a, q, wy, s) {
	key = gpu "." shape "."
	if (!((key "total") in paper))
		return
	for (s = 0; s < m / 2; s += 32) {
		a += 129 * (m - s) * (m / 2 - s - 32)
		q += 129 * m * (m - s)
		wy += 2046 * (m - s)
	}
	flop = (a + q) * 1e-9 + paper["workload." shape ".house"] + paper["workload." shape ".panel_update"] + wy * 1e-9
	point("paper_" gpu, "m gflop seconds gflops apply_a apply_q", sprintf("%d %.6g %s %.6g %.6g %.6g", m, flop, paper[key "total"], \
		flop / paper[key "total"], a * 1e-9 / paper[key "apply_a"], q * 1e-9 / paper[key "apply_q"]))
}

# ---- for the report ----

# A line for each size with a total: the columns are phases or widths.
function size_table(id, title, heads, terms, columns,   s, i) {
	table_start("kerr-" id, title, ">m|>" heads)
	for (s = 1; s <= sizes; s++)
		if (i = fastest("m=" size[s] " " terms " phase=total"))
			table_row("", size[s] line_of("m=" size[s] " " terms, columns) (terms ~ /r=/ ? "|" significant(T[i, "gflops"], 4) : ""))
	table_end()
}
# Kerr's three errors of a run, divided by his limit.
function errors_of(i,   name, j, text) {
	split("residual orthogonality triangularity", name, " ")
	for (j = 1; j <= 3; j++)
		text = text "|" (i && is_time(T[i, "limit"]) ? significant(T[i, name[j]] / T[i, "limit"], 2) : "-")
	return text
}
function error_table(   s, blas, steps) {
	table_start("kerr-errors", "Errors of QR - A, Q'Q - I and Q'A below its diagonal, each divided by its limit m 2^-23, r = 32", \
		">m|>BLAS: QR|>Q'Q|>Q'A|>ours: QR|>Q'Q|>Q'A")
	for (s = 1; s <= sizes; s++) {
		blas = fastest("m=" size[s] " variant=blas r=32 phase=total")
		steps = fastest("m=" size[s] " variant=steps r=32 phase=total")
		if (blas || steps)
			table_row("", size[s] errors_of(blas) errors_of(steps))
	}
	table_end()
}
# The whole Q by cuSOLVER's calls, against our fastest width.
function vendor_table(   s, i, ours) {
	table_start("kerr-vendor", "QR with the whole Q by cuSOLVER (geqrf, orgqr), by his implementation and by ours, each at its fastest width r", \
		">m|>cuSOLVER, ms|>his kernels, ms|>ours, ms|>speedup over cuSOLVER")
	for (s = 1; s <= sizes; s++) {
		i = fastest("m=" size[s] " variant=cusolver phase=total")
		ours = fastest("m=" size[s] " variant=ahead phase=total")
		if (i && ours)
			table_row("", size[s] "|" significant(T[i, "seconds"] * 1e3, 3) "|" milliseconds("m=" size[s] " variant=kerr phase=total") "|" \
				significant(T[ours, "seconds"] * 1e3, 3) "|" significant(T[i, "seconds"] / T[ours, "seconds"], 3))
	}
	table_end()
}
# The host with a share of the columns: the fastest share, and the one predicted fastest.
function balance_table(   s, n, j, i, list, none, least, best) {
	table_start("kerr-balance", "Columns of A on the host's cores beside the device (r = 128): the total without, and with the share that is fastest, ms", \
		">m|>none, predicted / measured|<fastest|>its time|<predicted fastest")
	for (s = 1; s <= sizes; s++) {
		none = fastest("m=" size[s] " variant=balance phase=share_0")
		n = split(rows_with("m=" size[s] " variant=balance"), list, " ")
		least = best = ""
		for (j = 1; j <= n; j++) {
			i = list[j]
			if (is_time(T[i, "seconds"]) && (least == "" || T[i, "seconds"] + 0 < T[least, "seconds"] + 0))
				least = i
			if (is_time(T[i, "predicted"]) && (best == "" || T[i, "predicted"] + 0 < T[best, "predicted"] + 0))
				best = i
		}
		if (none && least != "")
			table_row("", size[s] "|" (is_time(T[none, "predicted"]) ? significant(T[none, "predicted"] * 1e3, 3) : "-") " / " \
				significant(T[none, "seconds"] * 1e3, 3) "|" substr(T[least, "phase"], 7) "|" significant(T[least, "seconds"] * 1e3, 3) "|" \
				(best == "" ? "-" : substr(T[best, "phase"], 7)))
	}
	table_end()
}
function gemv_us(m, variant,   i) {
	i = fastest("m=" m " variant=" variant " phase=gemv")
	return !i ? "-" : (is_time(T[i, "predicted"]) ? significant(T[i, "predicted"] * 1e6, 3) : "-") " / " significant(T[i, "seconds"] * 1e6, 3)
}
# The products of his Figure 2, and those with the transpose.
function gemv_table(   s, k, n, name, line) {
	n = split("gemv_cublas gemv_kerr gemv_tuned gemv_t_cublas gemv_t_kerr gemv_t_tuned", name, " ")
	table_start("kerr-gemv", "Products of an m x m matrix and a vector: us, predicted / measured", \
		">m|>A x: cuBLAS|>his kernel|>ours|>A'x: cuBLAS|>his kernel|>ours")
	for (s = 1; s <= sizes; s++) {
		line = size[s]
		for (k = 1; k <= n; k++)
			line = line "|" gemv_us(size[s], name[k])
		if (line ~ /[0-9] \//)
			table_row("", line)
	}
	table_end("Twenty calls in a row with one matrix: L2 holds the smaller ones.")
}
# ---- beside the paper's numbers ----

function phase_of(p) { return phase_name[p] }
function counted(m, p) { return first_with("m=" m " variant=blas r=32 phase=" phase_of(p), "flops") }
function work_table(   s, p, key, i, line, ours) {
	table_start("kerr-work", "Operations of each phase, r = 32, Gflop, as the paper prints them (Table 1); with / as counted here, where that differs by over 1 %", \
		">m|>house|>update|>WY|>to A|>to Q|>total")
	for (s = 1; s <= sizes; s++) {
		if (!counted(size[s], 1) || !(("workload." size[s] "x" size[s] / 2 ".total") in paper))
			continue
		line = size[s]
		for (p = 1; p <= 6; p++) {
			key = "workload." size[s] "x" size[s] / 2 "." phase_of(p)
			i = counted(size[s], p)
			ours = i ? T[i, "flops"] * 1e-9 : 0
			line = line "|" paper[key] (paper[key] > 0 && magnitude(ours / paper[key] - 1) < 0.01 ? "" : " / " (i ? significant(ours, 3) : "-"))
		}
		table_row("", line)
	}
	table_end("The last two numbers that the paper prints for WY do not fit the others: W and Y need operations in proportion to m^2.")
}
function milliseconds(terms,   i) {
	i = fastest(terms)
	return i ? significant(T[i, "seconds"] * 1e3, 3) : "-"
}
function paper_ms(gpu, m, p,   key) {
	key = gpu "." m "x" m / 2 "." phase_of(p)
	return key in paper ? significant(paper[key] * 1e3, 4) : "-"
}
function phases_table(   p, title) {
	split("Householder vectors,A = P A,W and Y,A = (I + W Y\047)\047 A,Q = Q (I + W Y\047),total", title, ",")
	table_start("kerr-phases", "Phases at the sizes of the paper's Table 2, r = 32, ms", "<phase|!>9800GX2, m = 6656|>GTX280, 6656|>BLAS calls|>ours" \
		"|>GTX280, m = 8192|>BLAS calls|>ours")
	for (p = 1; p <= 6 && fastest("m=8192 variant=blas r=32 phase=total"); p++)
		table_row(p == 6 ? "sum" : "", title[p] "|" paper_ms("9800gx2", 6656, p) beside("gtx280", 6656, p) beside("gtx280", 8192, p))
	table_end("Ours has one kernel for the first two phases, shown in the second line, and forms Q once, at the end. The totals are of runs without marks.")
}
function beside(gpu, m, p,   terms) {
	terms = "m=" m " r=32 phase="
	return "|" paper_ms(gpu, m, p) "|" milliseconds(terms phase_of(p) " variant=blas") "|" \
		milliseconds(terms (p == 2 ? "panel" : phase_of(p)) " variant=steps")
}
# Listing 1: the paper's kernel against the library and the memory.
function say_gemv(   s, own, library, n, ratio, ratios, best, roof, tuned) {
	for (s = 1; s <= sizes; s++) {
		own = fastest("m=" size[s] " variant=gemv_kerr phase=gemv")
		library = fastest("m=" size[s] " variant=gemv_cublas phase=gemv")
		if (!own || !library)
			continue
		ratios = ratios " " T[library, "seconds"] / T[own, "seconds"]
		best = T[own, "gflops"] > best ? T[own, "gflops"] + 0 : best
		tuned = greatest("m=" size[s] " variant=gemv_tuned phase=gemv", "gflops")
	}
	n = ascending(ratios, ratio)
	read_profile(data "/profile.tsv")
	roof = value("gpu.dram.read") * 0.5e-9
	if (n && roof > 0)
		paragraph("The paper's product of a matrix and a vector (Listing 1) was " paper["sgemv.speedup_over_cublas20"] " times as fast as cuBLAS 2.0 and came" \
			" to 97 % of the memory's bound (" paper["gtx280.sgemv.best"] " Gflop/s). Here it has too few threads, one for each row: it runs at " \
			significant(ratio[int((n + 1) / 2)], 2) " times the speed of cuBLAS in the median and comes to " percent(best / roof, "%.0f") \
			" % of the bound (" significant(best, 3) " Gflop/s)" (tuned ? "; our kernel comes to " percent(T[tuned, "gflops"] / roof, "%.0f") " %, partly from L2" : "") ".")
}

BEGIN {
	if (!load(data "/kerr.tsv", T))
		exit
	sizes = numbers_of("", "m", size)
	threads = numbers_of("variant=lapack", "threads", thread)
	split("house panel_update wy apply_a apply_q total", phase_name, " ")
	if (table == "yes") {
		read_paper("kerr2009")
		phases_table()
		say_gemv()
		work_table()
		size_table("blas", "Phases of the paper's Algorithm 3 from BLAS calls, r = 32: ms, predicted / measured", \
			"house|>update|>WY|>to A|>to Q|>total|!>Gflop/s", "variant=blas r=32", \
			"both phase=house|both phase=panel_update|both phase=wy|both phase=apply_a|both phase=apply_q|both phase=total")
		size_table("kernels", "Phases of the paper's implementation, Algorithm 3 by its kernels, r = 32: ms, predicted / measured", \
			"house|>update|>WY|>to A|>to Q|>total|!>Gflop/s", "variant=kerr r=32", \
			"both phase=house|both phase=panel_update|both phase=wy|both phase=apply_a|both phase=apply_q|both phase=total")
		size_table("reflectors", "Algorithm 1 from BLAS calls, reflector by reflector (r = n): ms, predicted / measured", \
			"house|>update|>to Q|>total", "variant=reflectors", \
			"both phase=house|both phase=panel_update|both phase=apply_q|both phase=total")
		size_table("steps", "Phases of ours, one after the other, r = 32: ms, predicted / measured", \
			"panel|>V and T|>to A|>form Q|>total|!>Gflop/s", "variant=steps r=32", \
			"both phase=panel|both phase=wy|both phase=apply_a|both phase=apply_q|both phase=total")
		error_table()
		vendor_table()
		balance_table()
		gemv_table()
		size_table("width-blas", "BLAS calls by the width r of the blocks: ms, predicted / measured", "r = 16|>32|>64|>128", \
			"variant=blas", "both phase=total r=16|both phase=total r=32|both phase=total r=64|both phase=total r=128")
		size_table("width-kernels", "The paper's implementation by the width r of the blocks: ms, predicted / measured", "r = 16|>32|>64|>128", \
			"variant=kerr", "both phase=total r=16|both phase=total r=32|both phase=total r=64|both phase=total r=128")
		size_table("width-ahead", "Ours, with look-ahead, by the width r of the blocks: ms, predicted / measured", \
			"r = 16|>32|>64|>128|>256", "variant=ahead", \
			"both phase=total r=16|both phase=total r=32|both phase=total r=64|both phase=total r=128|both phase=total r=256")
		exit
	}
	for (s = 1; s <= sizes; s++)
		write_size(size[s])
	for (m = 1024; m <= 8192; m = m == 1024 ? 4096 : 2 * m) {
		write_widths("blas", m)
		write_widths("kerr", m)
		write_widths("ahead", m)
	}
	read_paper("kerr2009")
	write_paper("9800gx2", "6656x3328", 6656)
	write_paper("gtx280", "6656x3328", 6656)
	write_paper("gtx280", "8192x4096", 8192)
	if (sizes)
		print series
}
