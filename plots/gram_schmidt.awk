# SPDX-License-Identifier: MIT
# Gram-Schmidt's rows of bench.tsv as series for its figure, or as tables and text:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f gram_schmidt.awk
# With a folder: shape_KERNEL_ACCESS_NY.tsv (Figures 6 and 7), left_NXxNY.tsv and left_own.tsv (Figure 8), form_VARIANT.tsv
# (Figure 9), best_gpu.tsv and best_cpu.tsv (Figure 10; with -v only=best these alone and forms); prints the number of
# series. With a table: markup. With -v answer=yes: the text on GPU and CPU alone.
function word(i) { return T[i, "precision"] == "s" ? 4 : 8 }
# Bytes that a pass moves: dot products read all columns, the others read and write all but the first.
function moved(i) {
	return T[i, "m"] * word(i) * (T[i, "operation"] == "gram_dots" ? T[i, "n"] : 2 * (T[i, "n"] - 1))
}
function predicted_of(i,   row) {
	row = first_with("executor=model operation=" T[i, "operation"] " variant=" T[i, "variant"] " precision=" T[i, "precision"] " m=" T[i, "m"] \
		" n=" T[i, "n"] " k=" T[i, "k"] " nb=" T[i, "nb"] " shape=" field(i, "shape") " on=" T[i, "executor"], "seconds")
	return row ? T[row, "seconds"] : ""
}
# The fastest run of all columns of a square matrix, by the project's own compiler; or one of modified Gram-Schmidt.
function form(terms, modified,   list, n, j, i, best) {
	n = split(rows_with("operation=gramschmidt square=1 compiler= " terms), list, " ")
	for (j = 1; j <= n; j++) {
		i = list[j]
		if (is_time(T[i, "seconds"]) && !(T[i, "k"] + 0 > 0 && T[i, "k"] + 0 < T[i, "n"] + 0) && !(modified && T[i, "variant"] ~ /^(block|twice)$/) && \
			(!best || T[i, "seconds"] + 0 < T[best, "seconds"] + 0))
			best = i
	}
	return best + 0
}
function form_of(variant, precision, n) { return form("executor=cuda precision=" precision " n=" n " variant=" variant) }
function best_on(executor, n) { return form("executor=" executor " precision=s n=" n) }
function rate(i) { return 2 * T[i, "m"] * T[i, "n"] * T[i, "n"] / T[i, "seconds"] * 1e-9 }
function GBs(i, seconds) { return is_time(seconds) ? sprintf("%.6g", moved(i) / seconds * 1e-9) : "NaN" }
# One pass of a kernel over n columns on the GPU.
function pass(operation, variant, n, shape) {
	return first_with("executor=cuda operation=" operation " precision=s m=" largest " variant=" variant " n=" n " shape=" shape, "seconds")
}

# ---- for the figure ----

function write_shapes(operation, access,   nx, ny, i) {
	for (ny = 1; ny <= 32; ny *= 2)
		for (nx = 32; nx * ny <= 1024; nx *= 2)
			if (i = pass(operation, access, largest, nx "x" ny))
				point("shape_" substr(operation, 6) "_" access "_" ny, "nx gbs predicted", nx " " GBs(i, T[i, "seconds"]) " " GBs(i, predicted_of(i)))
}
# Times by the number of remaining columns, for shapes measured with few of them.
function write_left(operation, variant, shape,   c, i) {
	for (c = 1; c <= columns; c++)
		if (i = pass(operation, variant, column[c], shape))
			point("left_" (shape == "" ? "fused" : shape), "n seconds predicted", column[c] " " T[i, "seconds"] " " text_of(predicted_of(i)))
}
function write_all(   s, v, i, p) {
	if (only == "")
		write_passes()
	for (s = 1; s <= sizes; s++) {
		for (v = 1; v <= 9; v++)
			if (i = form_of(variant[v], "s", size[s])) {
				p = predicted_of(i)
				point("form_" variant[v], "n gflops predicted", sprintf("%d %.6g %s", size[s], rate(i), \
					is_time(p) ? sprintf("%.6g", rate(i) * T[i, "seconds"] / p) : "NaN"))
			}
		write_best("gpu", "cuda", size[s])
		write_best("cpu", "host", size[s])
	}
}
function write_passes(   o, a, s, n, list, i) {
	for (o = 1; o <= 2; o++)
		for (a = 1; a <= 3; a++)
			write_shapes(operation[o], access[a])
	columns = numbers_of("executor=cuda operation=gram_update m=" largest, "n", column)
	n = columns ? split(rows_with("executor=cuda operation=gram_update n=" column[1]), list, " ") : 0
	for (i = 1; i <= n; i++)
		if (T[list[i], "variant"] != "own")
			shapes[field(list[i], "shape")] = T[list[i], "variant"]
	for (s in shapes)
		write_left("gram_update", shapes[s], s)
	write_left("gram_fused", "own", "")
}
function write_best(side, executor, n,   i, m) {
	i = best_on(executor, n)
	m = form("executor=" executor " precision=s n=" n, 1)
	if (i)
		point("best_" side, "n gflops modified", sprintf("%d %.6g %s", n, rate(i), m ? sprintf("%.6g", rate(m)) : "NaN"))
}

# ---- for the report ----

# The fastest shape, the one predicted fastest, and its extra time.
function shape_table(   o, a) {
	table_start("gram-shapes", "Blocks of NX x NY threads, single precision, n = " largest ": the fastest, and the one predicted fastest", \
		"<kernel|<access|<fastest|>GB/s|>of copy or read|<predicted|>regret|>shapes|>median error")
	for (o = 1; o <= 2; o++)
		for (a = 1; a <= 3; a++)
			shape_row(operation[o], access[a])
	table_end()
}
function shape_row(operation, access,   j, count, list, i, p, fast, choice, n, error, errors, roof, off) {
	roof = value(operation == "gram_dots" ? "gpu.dram.read" : "gpu.dram.copy")
	fast = fastest("executor=cuda operation=" operation " m=" largest " n=" largest " variant=" access)
	count = split(rows_with("executor=cuda operation=" operation " m=" largest " n=" largest " variant=" access), list, " ")
	for (j = 1; j <= count; j++) {
		i = list[j]
		p = predicted_of(i)
		if (!is_time(T[i, "seconds"]) || !is_time(p))
			continue
		if (choice == "" || p + 0 < predicted_of(choice) + 0)
			choice = i
		off = p / T[i, "seconds"] - 1
		errors = errors " " magnitude(off)
	}
	n = ascending(errors, error)
	if (fast)
		table_row("", (operation == "gram_dots" ? "dot products" : "update") "|" access "|" field(fast, "shape") "|" \
			significant(GBs(fast, T[fast, "seconds"]), 4) "|" \
			(roof != "" ? percent(GBs(fast, T[fast, "seconds"]) * 1e9 / roof, "%.0f %%") : "-") "|" \
			(choice == "" ? "-|-" : field(choice, "shape") "|" percent(T[choice, "seconds"] / T[fast, "seconds"] - 1, "%.1f %%")) "|" \
			(n ? n : "-") "|" (n ? percent(error[int((n + 1) / 2)], "%.1f %%") : "-"))
}
function roundoff() { return 1 / 16777216 } # of single precision
# Loss of orthogonality is norm(X - Q^T Q X) / norm(X) for a few random X; rows have it over m u.
function loss(i) {
	return is_number(T[i, "orthogonality"]) ? sprintf("%.1e", T[i, "orthogonality"] * T[i, "m"] * (T[i, "precision"] == "s" ? roundoff() : roundoff() / 536870912)) : "-"
}
# By the condition of the matrix, beside the limit of the forms that go column by column.
function loss_table(   i, v, c, any, line, limit, cell, part, list, n, condition) {
	n = split(rows_with("operation=gramschmidt"), list, " ")
	for (i = 1; i <= n; i++)
		if (field(list[i], "cond") != "")
			any = list[i]
	if (!any)
		return
	split("cublas,nan direct,nan shared,nan wide,nan kernels,nan fused,nan blocked,64 block,32 block,64 twice,64", cell, " ")
	split("1 1000 100000", condition, " ")
	table_start("gram-loss", "Loss of orthogonality, norm(I - Q'Q), by the matrix's condition, on the GPU, single precision, " T[any, "m"] " x " \
		T[any, "n"] "; limit: 10 n^(1/2) u cond(A), with re-orthogonalization (twice) 10 n^(1/2) u", "<form|>nb|!>cond 1|!>1e3|!>1e5")
	for (v = 1; v <= 10; v++) {
		split(cell[v], part, ",")
		line = part[1] "|" (part[2] == "nan" ? "" : part[2])
		for (c = 1; c <= 3; c++) {
			n = split(rows_with("operation=gramschmidt variant=" part[1] " nb=" part[2] " cond=" condition[c]), list, " ")
			line = line "|" (n ? loss(list[n]) : "-")
		}
		table_row("", line)
	}
	for (c = 1; c <= 3; c++)
		limit = limit "|" sprintf("%.1e", 10 * root(T[any, "n"]) * roundoff() * condition[c])
	table_row("", "limit|" limit)
	table_end()
}
function form_table(precision,   s, v, i, p, b) {
	table_start("gram-forms-" precision, "Forms on the GPU, " (precision == "s" ? "single" : "double") " precision, n x n", \
		">n|<form|>nb|>ms|>predicted, ms|>Gflop/s|>speedup over cuBLAS|>one pass at copy bandwidth|!>norm(I - Q'Q)")
	for (s = 1; s <= sizes; s++)
		for (v = 1; v <= 9; v++) {
			i = form_of(variant[v], precision, size[s])
			if (!i)
				continue
			p = predicted_of(i)
			b = form_of("cublas", precision, size[s])
			table_row("", size[s] "|" variant[v] "|" (is_number(T[i, "nb"]) ? T[i, "nb"] : "") "|" significant(T[i, "seconds"] * 1e3, 3) "|" \
				(is_time(p) ? significant(p * 1e3, 3) : "-") "|" significant(rate(i), 4) "|" \
				(b ? significant(T[b, "seconds"] / T[i, "seconds"], 3) : "-") "|" (value("gpu.dram.copy") == "" || is_number(T[i, "nb"]) ? "-" : \
				percent(T[i, "m"] * T[i, "n"] * T[i, "n"] * word(i) / value("gpu.dram.copy") / T[i, "seconds"], "%.0f %%")) "|" loss(i))
		}
	table_end()
}
# Seconds of the paper's kernels of one column at a time, the fastest access and shape; "": not measured.
function column_by_column(m, n,   a, o, i, best, all) {
	for (o = 1; o <= 2; o++) {
		best = ""
		for (a = 1; a <= 3; a++) {
			i = fastest("executor=cuda operation=" operation[o] " m=" m " n=" n " variant=" access[a])
			if (i && (best == "" || T[i, "seconds"] + 0 < best))
				best = T[i, "seconds"] + 0
		}
		if (best == "")
			return ""
		all += best
	}
	return all
}
# The reduction of section 4: one column a block of NX threads.
function reduction_table(   nx, tree, added, p, q) {
	table_start("gram-reduction", "Sums of " largest " dot products: a tree, and atomic additions in shared memory, NX x 1 threads, us, predicted / measured", \
		">NX|>tree|>atomic|>ratio")
	for (nx = 32; nx <= 1024; nx *= 2) {
		tree = pass("gram_dots", "direct", largest, nx "x1")
		added = pass("gram_dots", "atomic", largest, nx "x1")
		if (tree && added) {
			p = predicted_of(tree)
			q = predicted_of(added)
			table_row("", nx "|" (is_time(p) ? significant(p * 1e6, 3) : "-") " / " significant(T[tree, "seconds"] * 1e6, 3) "|" \
				(is_time(q) ? significant(q * 1e6, 3) : "-") " / " significant(T[added, "seconds"] * 1e6, 3) "|" \
				significant(T[added, "seconds"] / T[tree, "seconds"], 3))
		}
	}
	table_end()
}
function apply_table(   j, n, list, i, p, single) {
	table_start("gram-apply", "The blocked update of " largest " columns by k columns, one or four of them in a block of threads; gain: over the paper's kernels, column by column", \
		">m|>k|<columns of a block|>us|>predicted, us|>Gflop/s|>gain")
	n = split(rows_with("executor=cuda operation=gram_apply n=" largest), list, " ")
	for (j = 1; j <= n; j++) {
		i = list[j]
		p = predicted_of(i)
		if (is_time(T[i, "seconds"]))
			table_row("", T[i, "m"] "|" T[i, "k"] "|" (T[i, "variant"] == "single" ? "one" : "four") "|" significant(T[i, "seconds"] * 1e6, 3) "|" \
				(is_time(p) ? significant(p * 1e6, 3) : "-") "|" significant(4 * T[i, "m"] * T[i, "n"] * T[i, "k"] / T[i, "seconds"] * 1e-9, 4) "|" \
				((single = column_by_column(T[i, "m"], T[i, "n"])) != "" ? significant(T[i, "k"] * single / T[i, "seconds"], 3) : "-"))
	}
	table_end()
}

# ---- then and now ----

function host_time(variants, n,   v, i, name, fast) {
	split(variants, name, " ")
	for (v in name)
		if ((i = form("executor=host precision=s n=" n " variant=" name[v])) && (fast == "" || T[i, "seconds"] + 0 < fast))
			fast = T[i, "seconds"] + 0
	return fast
}
function then_text(   flop, gpu, cpu, blocked) {
	flop = 2 * cube(8192)
	gpu = 2 * paper["gtx580.memory_clock_mhz"] * 1e6 * paper["gtx580.bus_width_bit"] / 8
	blocked = paper["x5650.blocked.12threads.ifort-12.0.2"]
	cpu = 6 * cube(8192) / paper["x5650.unblocked.12threads.ifort-12.0.2"]
	return "In 2012 the best GPU (GTX 580) was " significant(paper["gtx580_over_x5650"], 2) " times as fast as one six-core X5650, and slower than two: its memory gave " \
		with_unit(gpu, "B/s") ", and the unblocked form on two X5650 moved " with_unit(cpu, "B/s") " at 12 bytes a multiply-add pair. Only the processors" \
		" held several columns in their caches, which made them " significant(paper["x5650.unblocked.12threads.ifort-12.0.2"] / blocked, 2) \
		" times faster than their memory alone (" significant(flop / blocked * 1e-9, 2) " Gflop/s). "
}
function now_text(n,   g, c, m, text, host, plain, blocked) {
	g = best_on("cuda", n)
	m = form("executor=cuda precision=s n=" n, 1)
	c = best_on("host", n)
	host = value("host.memory.copy.peak")
	text = "Here, at n = " n ", the GPU's best form (" T[g, "variant"] ") is " significant(T[c, "seconds"] / T[g, "seconds"], 3) \
		" times as fast as the CPU's (" T[c, "variant"] "): " significant(rate(g), 4) " against " significant(rate(c), 4) \
		" Gflop/s; by modified Gram-Schmidt alone (" T[m, "variant"] ") it is " significant(T[c, "seconds"] / T[m, "seconds"], 3) " times. "
	if (host != "" && value("gpu.dram.copy") != "")
		text = text "The GPU's memory copies " with_unit(value("gpu.dram.copy"), "B/s") ", the CPU's " with_unit(host, "B/s") ", a ratio of " \
			significant(value("gpu.dram.copy") / host, noisy("host.memory.copy.peak") ? 1 : 3) \
			(noisy("host.memory.copy.peak") ? " (the CPU's is noisy)" : "") "; "
	plain = host_time("openblas blas unblocked kernels", n)
	blocked = host_time("blocked", n)
	if (plain != "" && blocked != "")
		text = text "blocking makes the CPU " significant(plain / blocked, 3) " times faster than its unblocked form; "
	if (form_of("cublas", "s", n))
		text = text "on the GPU updates by matrix products and panels in registers make it " \
			significant(T[form_of("cublas", "s", n), "seconds"] / T[g, "seconds"], 3) " times faster than its unblocked form by cuBLAS."
	return text
}

BEGIN {
	split("gram_update gram_dots gram_fused", operation, " ")
	split("direct shared wide", access, " ")
	split("cublas direct shared wide kernels fused blocked block twice", variant, " ")
	load(data "/bench.tsv", T)
	read_profile(data "/profile.tsv")
	for (o = 1; o <= 3; o++) {
		n = numbers_of("executor=cuda operation=" operation[o], "n", size)
		largest = n && size[n] > largest ? size[n] : largest
	}
	sizes = form("executor=cuda") || form("executor=host") ? numbers_of("operation=gramschmidt square=1", "n", size) : 0
	for (s = 1; s <= sizes; s++)
		if (best_on("cuda", size[s]) && best_on("host", size[s]))
			common = size[s]
	if (answer == "yes") {
		read_paper("brandes2012")
		if (common != "")
			paragraph(then_text() now_text(common))
	} else if (table == "yes") {
		if (largest) {
			shape_table()
			reduction_table()
			apply_table()
		}
		form_table("s")
		form_table("d")
		loss_table()
		read_paper("brandes2012")
		if (sizes)
			paragraph(common != "" ? then_text() now_text(common) : "No square matrix was measured on both the GPU and the CPU: no comparison.")
	} else
		write_all()
	if (series)
		print series
}
