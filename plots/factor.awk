# SPDX-License-Identifier: MIT
# Series of the figure of whole factorizations: awk -v folder=WORK -v data=DATA -v precision=s -f common.awk -f bench.awk -f factor.awk
# From DATA/bench.tsv the best rate of every variant at every square size, over its plans and algorithms; from
# DATA/errors.tsv the model's plan, predicted and measured at held-out sizes. Writes
# folder/OPERATION_VARIANT.tsv (n, gflops), folder/OPERATION_{predicted,checked}_VARIANT.tsv, OPERATION_bound.tsv (of the
# panels on the GPU), from DATA/breakdown.tsv OPERATION_blas3.tsv, from DATA/breakdown_measured.tsv OPERATION_blas3run.tsv and,
# beside these, from DATA/profile.tsv gemm.tsv: the library's product of n x n matrices. Prints the number of series.
function keep_rate(name, n, rate) {
	if (rate > 0)
		keep(name, n + 0, rate + 0)
}
# Our factorizations by split operands are variants of their own.
function variant_of(T, i) { return T[i, "math"] ~ /^3x/ ? T[i, "math"] : T[i, "variant"] }
function take_bench(   i) {
	load(data "/bench.tsv", T)
	for (i = 1; i <= T["rows"]; i++)
		if (is_square_whole(i, precision))
			keep_rate(T[i, "operation"] "_" variant_of(T, i), T[i, "n"], T[i, "gflops"])
}
# The factorization's operation count over the time of products and solves, simulated or in recorded runs, for plans with panels on
# the host.
function take_breakdown(B, kind,   i, k, part, blas3) {
	for (i = 1; i <= B["rows"]; i++)
		if (B[i, "variant"] == "hybrid" && B[i, "precision"] == precision && (B[i, "phase"] == "update" || B[i, "phase"] == "solve"))
			blas3[B[i, "operation"], B[i, "n"]] += B[i, "busy_s"]
	for (k in blas3) {
		split(k, part, SUBSEP)
		keep_rate(part[1] "_" kind, part[2], flops(part[1], part[2]) / blas3[k] * 1e-9)
	}
}
# The bound of a factorization: its operations at the best rate of products, or its bytes at the memory's rate.
function is_bound(i) {
	return E[i, "level"] == 0 && E[i, "variant"] == "gpu" && E[i, "math"] !~ /^3x/ && E[i, "predicted"] > 0
}
function take_errors(   i, name, n) {
	load(data "/errors.tsv", E)
	for (i = 1; i <= E["rows"]; i++) {
		name = E[i, "operation"]
		n = E[i, "n"]
		if (!is_whole_operation(name) || E[i, "precision"] != precision || E[i, "m"] != n)
			continue
		if (is_bound(i))
			keep_rate(name "_bound", n, flops(name, n) / E[i, "predicted"] * 1e-9)
		if (E[i, "level"] != 2 || !judges(E[i, "verdict"]) || option(E[i, "options"], "plan") != "model")
			continue
		keep_rate(name "_predicted_" variant_of(E, i), n, flops(name, n) / E[i, "predicted"] * 1e-9)
		keep_rate(name "_checked_" variant_of(E, i), n, flops(name, n) / E[i, "measured"] * 1e-9)
	}
}
function take_gemm(   i, name, n) {
	read_profile(data "/profile.tsv")
	for (i = 1; i <= P["rows"]; i++) {
		name = P[i, "parameter"]
		n = argument(name, "n")
		if (base_of[i] == "gpu.gemm." precision && argument(name, "m") == n && argument(name, "k") == n && P[i, "value"] > 0)
			keep_rate("gemm", n, 2 * n * n * n / P[i, "value"] * 1e-9)
	}
}
BEGIN {
	take_bench()
	take_errors()
	load(data "/breakdown.tsv", B)
	load(data "/breakdown_measured.tsv", M)
	take_breakdown(B, "blas3")
	take_breakdown(M, "blas3run")
	for (name in x_of)
		wanted = 1
	if (wanted)
		take_gemm()
	for (name in x_of)
		write_kept(name, "n gflops")
	if (series)
		print series
}
