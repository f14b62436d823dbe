# SPDX-License-Identifier: MIT
# LU, Cholesky and QR on several GPUs (LAWN 202, Figure 9), of all folders that have them, as markup:
#   awk -v papers=data/papers -v folders="DIR|DIR" -f common.awk -f bench.awk -f lawn_several.awk
# Reads DIR/several_gpus.tsv and DIR/profile.tsv. Prints nothing without a row of several GPUs.
function machine_rows(folder,   i, one, gpus) {
	split("", with_terms)
	if (!load(folder "/several_gpus.tsv", T))
		return
	for (i = 1; i <= T["rows"]; i++) {
		gpus = field(i, "gpus") + 0
		if (gpus < 2 || T[i, "executor"] != "cuda" || T[i, "variant"] != "gpu" || !is_time(T[i, "seconds"]))
			continue
		if (!(shown++))
			table_row("", "two " LAWN_NAME "|LU, single|18000|2|" sprintf("%.2g", paper[LAWN_GPU ".two_gpu_lu.best"] * 1e-3) "|" \
				paper[LAWN_GPU ".two_gpu_lu.gain"])
		one = first_with("executor=cuda variant=gpu operation=" T[i, "operation"] " precision=" T[i, "precision"] " math=" T[i, "math"] " n=" T[i, "n"] " gpus=1", "seconds")
		table_row("", base_of_path(folder) "|" name_of(T[i, "operation"], T[i, "precision"], T[i, "math"]) "|" T[i, "n"] "|" gpus "|" \
			significant(T[i, "gflops"] * 1e-3, 3) "|" (one ? sprintf("%.2f", T[one, "seconds"] / T[i, "seconds"]) : "-"))
	}
}
# Transfers with the host at once (6.2: the second GPU had half the rate).
function link_rows(folder,   text, gpus, total, one) {
	if (!read_profile(folder "/profile.tsv") || (one = value("link.h2d.all[gpus=1]")) == "")
		return
	for (gpus = 2; gpus <= 16; gpus++)
		if ((total = value("link.h2d.all[gpus=" gpus "]")) != "")
			table_row("", base_of_path(folder) "|" gpus "|" significant(one * 1e-9, 3) "|" significant(total * 1e-9, 3) "|" \
				significant(total / gpus / one, 2) "|" significant(value("link.d2h.all[gpus=" gpus "]") * 1e-9, 3))
}
BEGIN {
	read_paper("volkov2008")
	table_start("lawn-several", "Several GPUs (LAWN 202, Figure 9)", "<machine|<factorization|>n|>GPUs|>Tflop/s|>speedup over one GPU")
	n = split(folders, each, "|")
	for (f = 1; f <= n; f++)
		machine_rows(each[f])
	table_end("Speedup over one GPU: over the algorithm for one GPU in the same run. The paper's matrices start in host memory, ours in the GPUs' memory.")
	table_start("lawn-links", "Transfers to several GPUs at once (LAWN 202, 6.2)", \
		"<machine|>GPUs|>one alone, GB/s|>sum, GB/s|>each, ratio to one alone|>to the host, GB/s")
	for (f = 1; f <= n; f++)
		link_rows(each[f])
	table_end("Pinned memory on each GPU's NUMA node. In the paper the second GPU had half the rate of the first.")
}
