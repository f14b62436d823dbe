# SPDX-License-Identifier: MIT
# One table of the papers' best values beside this machine's, as markup:
#   awk -v data=DIR -v papers=data/papers -f common.awk -f papers_summary.awk
function compare(source, what, there, here, unit) {
	if (there > 0 && here > 0)
		table_row("", source "|" what "|" with_unit(there, unit) "|" with_unit(here, unit) "|" \
			significant(unit == "s" ? there / here : here / there, 3))
}
# The best rate of rows, in flop/s.
function best_of(terms,   i) {
	i = greatest(terms, "gflops")
	return i ? T[i, "gflops"] * 1e9 : ""
}
function whole(operation,   i) { # a square matrix, by fp32
	i = best_of("operation=" operation " math=fp32 variant=gpu square=1 from= without=")
	return i
}
# The largest speedup of removing columns over cuSOLVER, up to R and d.
function removal(   n, list, k, i, j, best) {
	n = split(rows_with("operation=remove_columns variant=update precision=s q=none from="), list, " ")
	for (k = 1; k <= n; k++) {
		i = list[k]
		j = first_with("operation=remove_columns variant=cusolver precision=s q=none from= m=" T[i, "m"] " n=" T[i, "n"] " p=" T[i, "p"], "seconds")
		if (j && T[j, "seconds"] / T[i, "seconds"] > best)
			best = T[j, "seconds"] / T[i, "seconds"]
	}
	return best
}
function pass(   n, list, k, i, best) { # operations of an orthogonalization of all columns, a second
	n = split(rows_with("operation=gram_update executor=cuda precision=s square=1"), list, " ")
	for (k = 1; k <= n; k++) {
		i = list[k]
		if (is_time(T[i, "seconds"]) && 2 * T[i, "m"] * (T[i, "n"] - 1) / T[i, "seconds"] > best)
			best = 2 * T[i, "m"] * (T[i, "n"] - 1) / T[i, "seconds"]
	}
	return best
}
function again(file) {
	split("", with_terms)
	load(data "/" file, T)
}
BEGIN {
	read_paper("volkov2008")
	read_paper("kerr2009")
	read_paper("brandes2012")
	read_paper("andrew2014")
	read_profile(data "/profile.tsv")
	table_start("papers-summary", "", "<paper|<quantity|>in the paper|>here|>times as good")
	paper_name = "LAWN 202, " LAWN_NAME
	compare(paper_name, "launch in a sequence of launches", paper[LAWN_GPU ".launch_async"] * 1e-6, value("gpu.launch.stream"), "s")
	compare(paper_name, "barrier over the grid", paper[LAWN_GPU ".barrier_model"] * 1e-6, value(grid_barrier()), "s")
	compare(paper_name, "copy in device memory", paper[LAWN_GPU ".copy_bandwidth"] * 1e9, value("gpu.dram.copy"), "B/s")
	again("bench.tsv")
	compare(paper_name, "LU, single precision", paper[LAWN_GPU ".lu.best"] * 1e9, whole("getrf"), "flop/s")
	compare(paper_name, "QR, single precision", paper[LAWN_GPU ".qr.best"] * 1e9, whole("geqrf"), "flop/s")
	compare(paper_name, "Cholesky, single precision", paper[LAWN_GPU ".cholesky.best"] * 1e9, whole("potrf"), "flop/s")
	compare("Brandes et al., GTX 480", "one orthogonalization", paper["gtx480.orthogonalization.direct"] * 1e9, pass(), "flop/s")
	again("kerr.tsv")
	compare("Kerr et al., GTX 280", "QR with the whole Q", paper["gtx280.qr.best"] * 1e9, best_of("variant=ahead phase=total"), "flop/s")
	again("update.tsv")
	compare("Andrew and Dingle, M2050", "removing columns, speedup over QR again", paper["speedup.remove_columns.max"], removal(), "ratio")
	table_end("LU, QR and Cholesky: fp32; the paper's matrices start and end in host memory, ours in device memory. QR again: by cuSOLVER.")
}
