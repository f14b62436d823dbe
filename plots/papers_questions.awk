# SPDX-License-Identifier: MIT
# Questions that LAWN 202 and Kerr et al. leave open, answered from the profile and the bench of this machine, as markup:
#   awk -v data=DIR -v papers=data/papers [-v panel="a rule on panels"] -v question=barrier|panel|reduction \
#     -f common.awk -f bench.awk -f papers_questions.awk
# Prints nothing where the machine has no answer.

# ---- is a barrier over the grid cheaper than a launch, and when? (LAWN 202, 3.6) ----

function times_of(a, b) { return sprintf("%.1f", a / b) }
function barrier_answer(   launch, barrier, name, many, most, copy, graph, programmatic, text) {
	name = grid_barrier()
	launch = value("gpu.launch.dependent")
	barrier = value(name)
	copy = value("gpu.dram.copy")
	if (launch == "" || barrier == "")
		return
	text = "On the " LAWN_NAME " a barrier took " paper[LAWN_GPU ".barrier_low"] " to " paper[LAWN_GPU ".barrier_high"] " us, and a launch " \
		paper[LAWN_GPU ".launch_async"] " us, 3 to 4 times as long. Here, with one block on every multiprocessor, a barrier takes " \
		with_unit(barrier, "s") " and a launch behind another kernel " with_unit(launch, "s") ", " times_of(launch, barrier) " times as long"
	text = text (barrier >= launch ? ": the launch is the cheaper one." : ".")
	if (barrier < launch && copy != "" && 10 * launch > 11 * barrier)
		text = text " Replacing launches by barriers makes a step more than 10 % faster while it moves less than " \
			with_unit((10 * launch - 11 * barrier) * copy, "B") " of DRAM traffic."
	many = widest("gpu.barrier.counter", "blocks", "threads=256")
	most = argument(many, "blocks")
	if (sm_count() && most > sm_count())
		text = text " With " significant(most / sm_count(), 3) " blocks on each a barrier takes " with_unit(value(many), "s") \
			(value(many) > launch ? ", more than a launch" : "") "."
	graph = value("gpu.launch.graph_node")
	programmatic = value("gpu.launch.pdl")
	if (graph != "")
		text = text " In a graph a kernel starts " with_unit(graph, "s") " behind the one before" \
			(programmatic == "" ? "" : ", by a programmatic launch " with_unit(programmatic, "s")) ": " \
			((programmatic != "" && programmatic < barrier) ? "where the next kernel can wait in its own code, a programmatic launch is cheaper. A barrier" \
			" then pays for the data that stays on the chip between the steps." : "a barrier " (barrier < graph ? "stays the cheapest." : "is no longer the cheapest."))
	paragraph(text)
}

# ---- do panels belong on the CPU? (LAWN 202, 3.8; Kerr et al., 6) ----

# The time with panels on the CPU over the time with panels on the GPU, at the largest n that has both.
function panels_of(operation,   j, count, n, cpu, gpu, terms) {
	count = numbers_of("operation=" operation " variant=hybrid precision=s math=fp32 square=1 from= without=", "n", n)
	for (j = count; j > 0; j--) {
		terms = "operation=" operation " precision=s math=fp32 square=1 from= without= n=" n[j]
		cpu = fastest(terms " variant=hybrid")
		gpu = fastest(terms " variant=gpu")
		if (cpu && gpu)
			return title_of(operation) " of n = " n[j] " takes " sprintf("%.2f", T[cpu, "seconds"] / T[gpu, "seconds"]) " times as long"
	}
	return ""
}
function panel_answer(   text, whole, o, operation, part) {
	if (panel == "")
		return
	text = "LAWN 202 factorized all panels on the CPU; its model promised the GPU at most " paper[LAWN_GPU ".panel_gpu_over_cpu"] \
		" times the CPU's speed, for large panels. Is a panel on the CPU faster here, with its transfers? As measured: " panel
	split("getrf geqrf potrf", operation, " ")
	for (o = 1; o <= 3; o++)
		if ((part = panels_of(operation[o])) != "")
			whole = whole (whole == "" ? " In whole factorizations with look-ahead, where panels run beside updates, panels on the CPU: " : "; ") part
	paragraph(text whole (whole == "" ? "" : "."))
}

# ---- a sum over a block of threads: atomic additions or a tree? (Brandes et al., 4) ----

function reduction_answer(   tree, single, integer) {
	tree = value("gpu.reduce.sum[threads=256]")
	single = value("gpu.atomic.shared.alone.f32[ways=32]")
	integer = value("gpu.atomic.shared.alone.u32[ways=32]")
	if (tree == "" || single == "")
		return
	paragraph("Dot products: atomic additions or a tree? The paper prefers a tree in shared memory to atomic additions, without numbers. Here a" \
		" sum over 256 threads by shuffles and shared memory takes " with_unit(tree, "s") "; atomic additions of its 8 warps to one word take " \
		with_unit(8 * single, "s") " in single precision" (integer == "" ? "" : " and " with_unit(8 * integer, "s") " for integers") \
		", by the probes: " significant(8 * single / tree, 2) " times as long. The kernels use trees.")
}
BEGIN {
	read_paper("volkov2008")
	if (question == "barrier" && read_profile(data "/profile.tsv"))
		barrier_answer()
	else if (question == "reduction" && read_profile(data "/profile.tsv"))
		reduction_answer()
	else if (question == "panel" && load(data "/bench.tsv", T))
		panel_answer()
}
