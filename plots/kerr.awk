# SPDX-License-Identifier: MIT
# Kerr's benchmark of QR (measure --kerr) as series for its figure, or as tables:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f kerr.awk
# With a folder: gemv_NAME.tsv (Figure 2), run_NAME.tsv (Figures 3 and 4: of every width the fastest), host_THREADS.tsv
# (Figure 5: speedup of our fastest), apply_VARIANT_{a,q}.tsv (Figure 6), width_VARIANT_M.tsv, and
# paper_NAME.tsv from Table 2; prints the number of series. With a table: markup, predicted and measured.
function rate(flops, time) { return is_time(time) ? sprintf("%.6g", flops / time * 1e-9) : "NaN" }

function collect(   i, k, v, m, r) {
	for (i = 1; i <= K["rows"]; i++) {
		v = K[i, "variant"]
		m = K[i, "m"] + 0
		r = K[i, "r"] + 0
		k = v SUBSEP K[i, "phase"] SUBSEP m SUBSEP r SUBSEP K[i, "threads"] + 0
		if (!is_time(K[i, "seconds"]))
			continue
		row[k] = i
		if (!(m in size)) {
			size[m] = 1
			sizes = insert(ordered, sizes, m)
		}
		if (v == "lapack" && !((K[i, "threads"] + 0) in thread))
			thread[K[i, "threads"] + 0] = 1
		if (K[i, "phase"] == "total" && v != "lapack" && (!((v, m) in best) || K[i, "seconds"] + 0 < K[best[v, m], "seconds"] + 0))
			best[v, m] = i
	}
}

# ---- for the figure ----

function write_run(name, i) {
	begin_series("run_" name, "m gflop seconds predicted gflops gflops_predicted")
	printf "%d\t%.6g\t%s\t%s\t%s\t%s\n", K[i, "m"], K[i, "flops"] * 1e-9, K[i, "seconds"], text_of(K[i, "predicted"]), \
		rate(K[i, "flops"], K[i, "seconds"]), rate(K[i, "flops"], K[i, "predicted"]) >out
}
function write_apply(v, m, part,   k, i) {
	k = v SUBSEP "apply_" part SUBSEP m SUBSEP K[best[v, m], "r"] + 0 SUBSEP 0
	if (!(k in row))
		return
	i = row[k]
	begin_series("apply_" v "_" part, "m gflops predicted")
	printf "%d\t%s\t%s\n", m, rate(K[i, "flops"], K[i, "seconds"]), rate(K[i, "flops"], K[i, "predicted"]) >out
}
function write_size(m,   t, k) {
	if (("blas", m) in best) {
		write_run("blas", best["blas", m])
		write_apply("blas", m, "a")
		write_apply("blas", m, "q")
	}
	if (("steps", m) in best) {
		write_apply("steps", m, "a")
		write_apply("steps", m, "q")
	}
	if (("ahead", m) in best)
		write_run("ahead", best["ahead", m])
	for (t in thread) {
		k = "lapack" SUBSEP "total" SUBSEP m SUBSEP 0 SUBSEP t
		if (!(k in row))
			continue
		write_run("lapack_" t, row[k])
		if (!(("ahead", m) in best))
			continue
		begin_series("host_" t, "m ratio")
		printf "%d\t%.6g\n", m, K[row[k], "seconds"] / K[best["ahead", m], "seconds"] >out
	}
}
function write_widths(v, m,   w, k) {
	for (w = 16; w <= 256; w *= 2) {
		k = v SUBSEP "total" SUBSEP m SUBSEP w SUBSEP 0
		if (!(k in row))
			continue
		begin_series("width_" v "_" m, "r seconds predicted")
		printf "%d\t%s\t%s\n", w, K[row[k], "seconds"], text_of(K[row[k], "predicted"]) >out
	}
}
function write_gemv(   i, s) {
	for (s = 1; s <= sizes; s++)
		for (i = 1; i <= K["rows"]; i++)
			if (K[i, "phase"] == "gemv" && K[i, "m"] + 0 == ordered[s] && is_time(K[i, "seconds"])) {
				begin_series(K[i, "variant"], "m gflops predicted")
				printf "%d\t%s\t%s\n", K[i, "m"], rate(K[i, "flops"], K[i, "seconds"]), rate(K[i, "flops"], K[i, "predicted"]) >out
			}
}
# Table 2, with Table 1's operations by its formulas: the printed ones are not consistent.
function write_paper(gpu, shape, m,   key, flop, a, q, s) {
	key = gpu "." shape "."
	if (!((key "total") in paper))
		return
	for (s = 0; s < m / 2; s += 32) {
		a += 129 * (m - s) * (m / 2 - s - 32)
		q += 129 * m * (m - s)
	}
	flop = (a + q) * 1e-9 + paper["workload." shape ".house"] + paper["workload." shape ".panel_update"] + wy(m)
	begin_series("paper_" gpu, "m gflop seconds gflops apply_a apply_q")
	printf "%d\t%.6g\t%s\t%.6g\t%.6g\t%.6g\n", m, flop, paper[key "total"], flop / paper[key "total"], \
		a * 1e-9 / paper[key "apply_a"], q * 1e-9 / paper[key "apply_q"] >out
}
function wy(m,   s, sum) {
	for (s = 0; s < m / 2; s += 32)
		sum += 2046 * (m - s)
	return sum * 1e-9
}

# ---- for the report ----

function cell(v, phase, m, r,   k, i) {
	k = v SUBSEP phase SUBSEP m SUBSEP r SUBSEP 0
	if (!(k in row))
		return "|-"
	i = row[k]
	return "|" (is_time(K[i, "predicted"]) ? significant(K[i, "predicted"] * 1e3, 3) : "-") " / " significant(K[i, "seconds"] * 1e3, 3)
}
# Kerr's three errors of a run, divided by his limit.
function errors(v, m, r,   i, name, j, text) {
	i = row[v, "total", m, r, 0]
	split("residual orthogonality triangularity", name, " ")
	for (j = 1; j <= 3; j++)
		text = text "|" (i != "" && is_time(K[i, "limit"]) ? significant(K[i, name[j]] / K[i, "limit"], 2) : "-")
	return text
}
function error_table(r,   s) {
	table_start("kerr-errors", "Errors of QR - A, Q'Q - I and Q'A below its diagonal, each divided by its limit m 2^-23, r = " r, \
		">m|>BLAS: QR|>Q'Q|>Q'A|>ours: QR|>Q'Q|>Q'A")
	for (s = 1; s <= sizes; s++)
		if ((("blas", "total", ordered[s], r, 0) in row) || (("steps", "total", ordered[s], r, 0) in row))
			table_row("", ordered[s] errors("blas", ordered[s], r) errors("steps", ordered[s], r))
	table_end()
}
function phase_table(v, r, title, phases, names,   s, p, n, phase, line) {
	n = split(phases, phase, " ")
	table_start("kerr-" v, title, ">m" names "|>total|!>Gflop/s")
	for (s = 1; s <= sizes; s++) {
		if (!((v, "total", ordered[s], r, 0) in row))
			continue
		line = ordered[s]
		for (p = 1; p <= n; p++)
			line = line cell(v, phase[p], ordered[s], r)
		p = row[v, "total", ordered[s], r, 0]
		table_row("", line cell(v, "total", ordered[s], r) "|" significant(K[p, "gflops"], 4))
	}
	table_end()
}
function width_table(v, most, title,   s, w, line) {
	table_start("kerr-width-" v, title, ">m|>r = 16|>32|>64|>128" (most > 128 ? "|>256" : ""))
	for (s = 1; s <= sizes; s++) {
		line = ordered[s]
		for (w = 16; w <= most; w *= 2)
			line = line cell(v, "total", ordered[s], w)
		if ((v, ordered[s]) in best)
			table_row("", line)
	}
	table_end()
}

BEGIN {
	if (!load(data "/kerr.tsv", K))
		exit
	collect()
	if (table == "yes") {
		phase_table("blas", 32, "Phases of the paper's Algorithm 3 from BLAS calls, r = 32: ms, predicted / measured", \
			"house panel_update wy apply_a apply_q", "|>house|>update|>WY|>to A|>to Q")
		phase_table("steps", 32, "Phases of ours, one after the other, r = 32: ms, predicted / measured", \
			"panel wy apply_a apply_q", "|>panel|>V and T|>to A|>form Q")
		error_table(32)
		width_table("blas", 128, "BLAS calls by the width r of the blocks: ms, predicted / measured")
		width_table("ahead", 256, "Ours, with look-ahead, by the width r of the blocks: ms, predicted / measured")
		exit
	}
	write_gemv()
	for (s = 1; s <= sizes; s++)
		write_size(ordered[s])
	split("1024 4096 8192", wanted, " ")
	for (s = 1; s <= 3; s++) {
		write_widths("blas", wanted[s])
		write_widths("ahead", wanted[s])
	}
	read_paper("kerr2009")
	write_paper("9800gx2", "6656x3328", 6656)
	write_paper("gtx280", "6656x3328", 6656)
	write_paper("gtx280", "8192x4096", 8192)
	if (sizes)
		print series
}
