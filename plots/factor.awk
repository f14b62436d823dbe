# SPDX-License-Identifier: MIT
# Series of the figure of whole factorizations: awk -v folder=WORK -v data=DATA -v precision=s -f common.awk -f bench.awk -f factor.awk
# From DATA/bench.tsv the best rate of every variant at every square size, over its plans and algorithms; from
# DATA/errors.tsv the model's plan, predicted and measured at held-out sizes. Writes
# folder/OPERATION_VARIANT.tsv (n, gflops), folder/OPERATION_{predicted,checked}_VARIANT.tsv, OPERATION_bound.tsv (of the
# panels on the GPU), from DATA/breakdown.tsv OPERATION_blas3.tsv and, from DATA/profile.tsv, gemm.tsv: the library's
# product of n x n matrices. Prints the number of the other series.
function keep(series, n, rate) {
	if (!(rate > 0))
		return
	if (!((series, n) in best)) {
		sizes[series] = sizes[series] " " n
		best[series, n] = 0
	}
	if (rate > best[series, n])
		best[series, n] = rate
}
# Our factorizations by split operands are variants of their own.
function variant_of(T, i) { return T[i, "math"] ~ /^3x/ ? T[i, "math"] : T[i, "variant"] }
function take_bench(   i) {
	if (!load(data "/bench.tsv", T))
		return
	for (i = 1; i <= T["rows"]; i++)
		if (is_square_whole(i, precision))
			keep(T[i, "operation"] "_" variant_of(T, i), T[i, "n"] + 0, T[i, "gflops"])
}
# The factorization's operation count over the simulated time of products and solves, for plans with panels on the host.
function take_breakdown(   i, k, part) {
	if (!load(data "/breakdown.tsv", B))
		return
	for (i = 1; i <= B["rows"]; i++)
		if (B[i, "variant"] == "hybrid" && B[i, "precision"] == precision && (B[i, "phase"] == "update" || B[i, "phase"] == "solve"))
			blas3[B[i, "operation"], B[i, "n"]] += B[i, "busy_s"]
	for (k in blas3) {
		split(k, part, SUBSEP)
		keep(part[1] "_blas3", part[2] + 0, flops(part[1], part[2]) / blas3[k] * 1e-9)
	}
}
# The bound of a factorization: its operations at the best rate of products, or its bytes at the memory's rate.
function is_bound(i) {
	return E[i, "level"] == 0 && E[i, "variant"] == "gpu" && E[i, "math"] !~ /^3x/ && E[i, "predicted"] > 0
}
function take_errors(   i, name) {
	if (!load(data "/errors.tsv", E))
		return
	for (i = 1; i <= E["rows"]; i++) {
		if (!is_whole_operation(E[i, "operation"]) || E[i, "precision"] != precision || E[i, "m"] != E[i, "n"])
			continue
		name = E[i, "operation"]
		if (is_bound(i))
			keep(name "_bound", E[i, "n"] + 0, flops(name, E[i, "n"]) / E[i, "predicted"] * 1e-9)
		if (E[i, "level"] != 2 || E[i, "verdict"] == "SKIPPED" || option(E[i, "options"], "plan") != "model")
			continue
		keep(name "_predicted_" variant_of(E, i), E[i, "n"] + 0, flops(name, E[i, "n"]) / E[i, "predicted"] * 1e-9)
		keep(name "_checked_" variant_of(E, i), E[i, "n"] + 0, flops(name, E[i, "n"]) / E[i, "measured"] * 1e-9)
	}
}
function take_gemm(   i, word, n) {
	if (!load(data "/profile.tsv", G))
		return
	for (i = 1; i <= G["rows"]; i++)
		if (split(G[i, "parameter"], word, /[][,=]/) >= 7 && word[1] == "gpu.gemm." precision && \
			word[3] == word[5] && word[5] == word[7] && G[i, "value"] > 0) {
			n = word[3] + 0
			keep("gemm", n, 2 * n * n * n / G[i, "value"] * 1e-9)
		}
}
function write_series(series,   count, n, i, path) {
	path = folder "/" series ".tsv"
	count = ascending(sizes[series], n)
	print "n\tgflops" >path
	for (i = 1; i <= count; i++)
		printf "%d\t%.6g\n", n[i], best[series, n[i]] >path
	close(path)
}
BEGIN {
	take_bench()
	take_errors()
	take_breakdown()
	for (series in sizes)
		written++
	if (written)
		take_gemm()
	for (series in sizes)
		write_series(series)
	if (written)
		print written
}
