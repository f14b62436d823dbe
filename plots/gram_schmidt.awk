# SPDX-License-Identifier: MIT
# Gram-Schmidt's rows of bench.tsv as series for its figure, or as tables and text:
#   awk -v data=OUTPUT -v papers=DIR [-v folder=WORK | -v table=yes] -f common.awk -f gram_schmidt.awk
# With a folder: shape_KERNEL_ACCESS_NY.tsv (Figures 6 and 7), left_NXxNY.tsv and left_own.tsv (Figure 8), form_VARIANT.tsv
# (Figure 9), best_gpu.tsv and best_cpu.tsv (Figure 10); prints the number of series. With a table: markup.
function is_kernel(i) { return T[i, "operation"] == "gram_dots" || T[i, "operation"] == "gram_update" || T[i, "operation"] == "gram_fused" }
function word(i) { return T[i, "precision"] == "s" ? 4 : 8 }
# Bytes that a pass moves: dot products read all columns, the others read and write all but the first.
function moved(i) {
	return T[i, "m"] * word(i) * (T[i, "operation"] == "gram_dots" ? T[i, "n"] : 2 * (T[i, "n"] - 1))
}
function key_of(i, executor) {
	return T[i, "operation"] SUBSEP T[i, "variant"] SUBSEP T[i, "precision"] SUBSEP T[i, "m"] SUBSEP T[i, "n"] SUBSEP T[i, "k"] \
		SUBSEP T[i, "nb"] SUBSEP option(T[i, "options"], "shape") SUBSEP executor
}
function predicted_of(i,   k) {
	k = key_of(i, "model") SUBSEP T[i, "executor"]
	return k in row ? T[row[k], "seconds"] : ""
}
# The sizes of square matrices, ascending, into size.
function collect(   i, list) {
	for (i = 1; i <= T["rows"]; i++) {
		if (T[i, "operation"] !~ /^gram/ || !is_time(T[i, "seconds"]))
			continue
		row[key_of(i, T[i, "executor"]) (T[i, "executor"] == "model" ? SUBSEP option(T[i, "options"], "on") : "")] = i
		if (T[i, "executor"] == "model")
			continue
		if (is_kernel(i) && T[i, "n"] + 0 > largest)
			largest = T[i, "n"] + 0
		if (T[i, "operation"] == "gramschmidt" && T[i, "m"] == T[i, "n"] && !whole_run(i))
			continue
		if (T[i, "operation"] == "gramschmidt" && T[i, "m"] == T[i, "n"]) {
			if (!((T[i, "n"] + 0) in seen))
				list = list " " T[i, "n"] + 0
			seen[T[i, "n"] + 0] = 1
			better(i)
		}
	}
	sizes = ascending(list, size)
}
# All columns by the project's own compiler.
function whole_run(i) { return option(T[i, "options"], "compiler") == "" && !(is_number(T[i, "k"]) && T[i, "k"] + 0 > 0 && T[i, "k"] + 0 < T[i, "n"] + 0) }
# The fastest of each variant, of all forms, and of modified Gram-Schmidt, on either side.
function better(i,   k, side) {
	side = T[i, "executor"] == "cuda" ? "gpu" : "cpu"
	k = side SUBSEP T[i, "variant"] SUBSEP T[i, "precision"] SUBSEP T[i, "n"] + 0
	if (!(k in best) || T[i, "seconds"] + 0 < T[best[k], "seconds"] + 0)
		best[k] = i
	k = side SUBSEP T[i, "precision"] SUBSEP T[i, "n"] + 0
	if (!(k in champion) || T[i, "seconds"] + 0 < T[champion[k], "seconds"] + 0)
		champion[k] = i
	if (T[i, "variant"] == "block" || T[i, "variant"] == "twice")
		return
	if (!(k in modified) || T[i, "seconds"] + 0 < T[modified[k], "seconds"] + 0)
		modified[k] = i
}
function rate(i) { return 2 * T[i, "m"] * T[i, "n"] * T[i, "n"] / T[i, "seconds"] * 1e-9 }
function GBs(i, seconds) { return is_time(seconds) ? sprintf("%.6g", moved(i) / seconds * 1e-9) : "NaN" }

# ---- for the figure ----

function write_shapes(operation, access,   nx, ny, i, k) {
	for (ny = 1; ny <= 32; ny *= 2)
		for (nx = 32; nx * ny <= 1024; nx *= 2) {
			k = operation SUBSEP access SUBSEP "s" SUBSEP largest SUBSEP largest SUBSEP "nan" SUBSEP "nan" SUBSEP nx "x" ny SUBSEP "cuda"
			if (!(k in row))
				continue
			i = row[k]
			begin_series("shape_" substr(operation, 6) "_" access "_" ny, "nx gbs predicted")
			printf "%d\t%s\t%s\n", nx, GBs(i, T[i, "seconds"]), GBs(i, predicted_of(i)) >out
		}
}
# Times by the number of remaining columns, for shapes measured with few of them.
function write_left(   i, n, list, left, shape) {
	for (i = 1; i <= T["rows"]; i++)
		if (is_kernel(i) && T[i, "executor"] == "cuda" && T[i, "m"] + 0 == largest && !(T[i, "n"] in left)) {
			left[T[i, "n"]] = 1
			list = list " " T[i, "n"]
		}
	n = ascending(list, column)
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "operation"] == "gram_update" && T[i, "executor"] == "cuda" && T[i, "n"] + 0 == column[1])
			write_one_left("gram_update", T[i, "variant"], option(T[i, "options"], "shape"), n)
	write_one_left("gram_fused", "own", "", n)
}
function write_one_left(operation, variant, shape, n,   c, k, i) {
	if (variant == "own" && operation == "gram_update")
		return
	for (c = 1; c <= n; c++) {
		k = operation SUBSEP variant SUBSEP "s" SUBSEP largest SUBSEP column[c] SUBSEP "nan" SUBSEP "nan" SUBSEP shape SUBSEP "cuda"
		if (!(k in row))
			continue
		i = row[k]
		begin_series("left_" (shape == "" ? "fused" : shape), "n seconds predicted")
		printf "%d\t%s\t%s\n", column[c], T[i, "seconds"], text_of(predicted_of(i)) >out
	}
}
function write_forms(   v, s, k, i, p) {
	split("cublas direct shared wide kernels fused blocked block twice", variant, " ")
	for (v = 1; v <= 9; v++)
		for (s = 1; s <= sizes; s++) {
			k = "gpu" SUBSEP variant[v] SUBSEP "s" SUBSEP size[s]
			if (!(k in best))
				continue
			i = best[k]
			p = predicted_of(i)
			begin_series("form_" variant[v], "n gflops predicted")
			printf "%d\t%.6g\t%s\n", size[s], rate(i), is_time(p) ? sprintf("%.6g", rate(i) * T[i, "seconds"] / p) : "NaN" >out
		}
}
function write_best(side,   s, k) {
	for (s = 1; s <= sizes; s++) {
		k = side SUBSEP "s" SUBSEP size[s]
		if (!(k in champion))
			continue
		begin_series("best_" side, "n gflops modified")
		printf "%d\t%.6g\t%s\n", size[s], rate(champion[k]), k in modified ? sprintf("%.6g", rate(modified[k])) : "NaN" >out
	}
}

# ---- for the report ----

# The fastest shape, the one predicted fastest, and its extra time.
function shape_table(   o, a, line) {
	split("gram_update gram_dots", operation, " ")
	split("direct shared wide", access, " ")
	table_start("gram-shapes", "Blocks of NX x NY threads, single precision, n = " largest ": the fastest, and the one predicted fastest", \
		"<kernel|<access|<fastest|>GB/s|>of copy or read|<predicted|>regret|>shapes|>median error")
	for (o = 1; o <= 2; o++)
		for (a = 1; a <= 3; a++) {
			line = shape_line(operation[o], access[a])
			if (line != "")
				table_row("", line)
		}
	table_end()
}
function shape_line(operation, access,   i, p, fast, choice, n, error, roof) {
	roof = value(operation == "gram_dots" ? "gpu.dram.read" : "gpu.dram.copy")
	for (i = 1; i <= T["rows"]; i++) {
		if (T[i, "operation"] != operation || T[i, "variant"] != access || T[i, "executor"] != "cuda" || T[i, "n"] + 0 != largest || \
			T[i, "m"] + 0 != largest || !is_time(T[i, "seconds"]))
			continue
		p = predicted_of(i)
		if (fast == "" || T[i, "seconds"] + 0 < T[fast, "seconds"] + 0)
			fast = i
		if (!is_time(p))
			continue
		if (choice == "" || p + 0 < predicted_of(choice) + 0)
			choice = i
		n = insert(error, n, p / T[i, "seconds"] > 1 ? p / T[i, "seconds"] - 1 : 1 - p / T[i, "seconds"])
	}
	if (fast == "")
		return ""
	return (operation == "gram_dots" ? "dot products" : "update") "|" access "|" option(T[fast, "options"], "shape") "|" \
		significant(GBs(fast, T[fast, "seconds"]), 4) "|" \
		(roof != "" ? percent(GBs(fast, T[fast, "seconds"]) * 1e9 / roof, "%.0f %%") : "-") "|" \
		(choice == "" ? "-|-" : option(T[choice, "options"], "shape") "|" percent(T[choice, "seconds"] / T[fast, "seconds"] - 1, "%.1f %%")) "|" \
		(n ? n : "-") "|" (n ? percent(error[int((n + 1) / 2)], "%.1f %%") : "-")
}
function roundoff() { return 1 / 16777216 } # of single precision
# Loss of orthogonality is norm(X - Q^T Q X) / norm(X) for a few random X; rows have it over m u.
function loss(i) {
	return is_number(T[i, "orthogonality"]) ? sprintf("%.1e", T[i, "orthogonality"] * T[i, "m"] * (T[i, "precision"] == "s" ? roundoff() : roundoff() / 536870912)) : "-"
}
# By the condition of the matrix, beside the limit of the forms that go column by column.
function loss_table(   i, v, c, any, line, at, cell, variants, conditions) {
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "operation"] == "gramschmidt" && option(T[i, "options"], "cond") != "") {
			at[T[i, "variant"], is_number(T[i, "nb"]) ? T[i, "nb"] + 0 : 0, option(T[i, "options"], "cond") + 0] = i
			any = i
		}
	if (!any)
		return
	variants = split("cublas,0 direct,0 shared,0 wide,0 kernels,0 fused,0 blocked,64 block,32 block,64 twice,64", cell, " ")
	conditions = split("1 1000 100000", condition, " ")
	table_start("gram-loss", "Loss of orthogonality, norm(I - Q'Q), by the matrix's condition, on the GPU, single precision, " T[any, "m"] " x " \
		T[any, "n"] "; limit: 10 n^(1/2) u cond(A), with re-orthogonalization (twice) 10 n^(1/2) u", "<form|>nb|!>cond 1|!>1e3|!>1e5")
	for (v = 1; v <= variants; v++) {
		split(cell[v], form, ",")
		line = form[1] "|" (form[2] > 0 ? form[2] : "")
		for (c = 1; c <= conditions; c++) {
			i = at[form[1], form[2], condition[c] + 0]
			line = line "|" (i ? loss(i) : "-")
		}
		table_row("", line)
	}
	line = "limit|"
	for (c = 1; c <= conditions; c++)
		line = line "|" sprintf("%.1e", 10 * root(T[any, "n"]) * roundoff() * condition[c])
	table_row("", line)
	table_end()
}
function has_forms(precision,   s) {
	for (s = 1; s <= sizes; s++)
		if (("gpu" SUBSEP precision SUBSEP size[s]) in champion)
			return 1
	return 0
}
function form_table(precision,   s, v, k, i, p, b) {
	if (!has_forms(precision))
		return
	split("cublas direct shared wide kernels fused blocked block twice", variant, " ")
	table_start("gram-forms-" precision, "Forms on the GPU, " (precision == "s" ? "single" : "double") " precision, n x n", \
		">n|<form|>nb|>ms|>predicted|>Gflop/s|>speedup over cuBLAS|>one pass at copy bandwidth|!>norm(I - Q'Q)")
	for (s = 1; s <= sizes; s++)
		for (v = 1; v <= 9; v++) {
			k = "gpu" SUBSEP variant[v] SUBSEP precision SUBSEP size[s]
			if (!(k in best))
				continue
			i = best[k]
			p = predicted_of(i)
			b = "gpu" SUBSEP "cublas" SUBSEP precision SUBSEP size[s]
			table_row("", size[s] "|" variant[v] "|" (is_number(T[i, "nb"]) ? T[i, "nb"] : "") "|" significant(T[i, "seconds"] * 1e3, 3) "|" \
				(is_time(p) ? significant(p * 1e3, 3) : "-") "|" significant(rate(i), 4) "|" \
				(b in best ? significant(T[best[b], "seconds"] / T[i, "seconds"], 3) : "-") "|" \
				(value("gpu.dram.copy") != "" && !is_number(T[i, "nb"]) ? percent(T[i, "m"] * T[i, "n"] * T[i, "n"] * word(i) / value("gpu.dram.copy") / T[i, "seconds"], "%.0f %%") : "-") \
				"|" loss(i))
		}
	table_end()
}
function apply_lines(   i, p) {
	table_start("gram-apply", "The blocked update of " largest " columns by k columns, one or four of them in a block of threads", \
		">k|<columns of a block|>us|>predicted|>Gflop/s")
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "operation"] == "gram_apply" && T[i, "executor"] == "cuda" && T[i, "n"] + 0 == largest && is_time(T[i, "seconds"])) {
			p = predicted_of(i)
			table_row("", T[i, "k"] "|" (T[i, "variant"] == "single" ? "one" : "four") "|" significant(T[i, "seconds"] * 1e6, 3) "|" \
				(is_time(p) ? significant(p * 1e6, 3) : "-") "|" significant(4 * T[i, "m"] * T[i, "n"] * T[i, "k"] / T[i, "seconds"] * 1e-9, 4))
		}
	table_end()
}

# ---- then and now ----

function host_times(variants, n,   v, i, k, name, fast) {
	split(variants, name, " ")
	for (v in name) {
		k = "cpu" SUBSEP name[v] SUBSEP "s" SUBSEP n
		if (k in best && (fast == "" || T[best[k], "seconds"] < fast))
			fast = T[best[k], "seconds"]
	}
	return fast
}
# The largest square that both sides have.
function common_size(   s, n) {
	for (s = 1; s <= sizes; s++)
		if (("gpu" SUBSEP "s" SUBSEP size[s]) in champion && ("cpu" SUBSEP "s" SUBSEP size[s]) in champion)
			n = size[s]
	return n
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
function now_text(n,   g, c, m, text, ratio, host, plain, blocked) {
	g = champion["gpu", "s", n]
	m = modified["gpu", "s", n]
	c = champion["cpu", "s", n]
	host = value("host.memory.copy.peak")
	ratio = T[c, "seconds"] / T[g, "seconds"]
	text = "Here, at n = " n ", the GPU's best form (" T[g, "variant"] ") is " significant(ratio, 3) " times as fast as the CPU's (" T[c, "variant"] "): " \
		significant(rate(g), 4) " against " significant(rate(c), 4) " Gflop/s; by modified Gram-Schmidt alone (" T[m, "variant"] ") it is " \
		significant(T[c, "seconds"] / T[m, "seconds"], 3) " times. "
	if (host != "" && value("gpu.dram.copy") != "")
		text = text "The GPU's memory copies " with_unit(value("gpu.dram.copy"), "B/s") ", the CPU's " with_unit(host, "B/s") ", a ratio of " \
			significant(value("gpu.dram.copy") / host, 3) "; "
	plain = host_times("openblas blas unblocked kernels", n)
	blocked = host_times("blocked", n)
	if (plain != "" && blocked != "")
		text = text "blocking makes the CPU " significant(plain / blocked, 3) " times faster than its unblocked form; "
	if (("gpu", "cublas", "s", n) in best)
		text = text "on the GPU updates by matrix products and panels in registers make it " \
			significant(T[best["gpu", "cublas", "s", n], "seconds"] / T[g, "seconds"], 3) " times faster than its unblocked form by cuBLAS."
	return text
}

BEGIN {
	if (!load(data "/bench.tsv", T))
		exit
	read_profile(data "/profile.tsv")
	collect()
	if (!sizes && !largest)
		exit
	if (table == "yes") {
		if (largest) {
			shape_table()
			apply_lines()
		}
		if (sizes) {
			form_table("s")
			form_table("d")
			loss_table()
			read_paper("brandes2012")
			if (common_size() != "")
				paragraph(then_text() now_text(common_size()))
			else
				paragraph("No square matrix was measured on both the GPU and the CPU: no comparison.")
		}
		exit
	}
	split("gram_update gram_dots", operation, " ")
	split("direct shared wide", access, " ")
	for (o = 1; o <= 2; o++)
		for (a = 1; a <= 3; a++)
			write_shapes(operation[o], access[a])
	write_left()
	write_forms()
	write_best("gpu")
	write_best("cpu")
	if (series)
		print series
}
