# SPDX-License-Identifier: MIT
# Title: Our own kernels that blocked factorizations go through
# Question: How long do our own kernels of blocked factorizations take?
# Figure: Above, a Householder panel against its rows, on all multiprocessors and (dotted) on those that it uses beside an update, and (dashed) an LU panel on one cluster. In the middle, the kernels of one diagonal block. Below, data movement against columns: 256 row swaps in rows that L2 holds and in DRAM, all swaps of a square at once, and both operands of an update, 128 deep, split for tensor cores. Single precision.
# Parameters: gpu.panel_geqrf. gpu.panel_cluster. gpu.potrf_block. gpu.potrf_rows. gpu.trtri. gpu.larft. gpu.trsm_guard. gpu.laswp. gpu.apply_swaps. gpu.tf32_split. gpu.half_pair.
height = 1300
load scripts."/style.gp"
panels = "block_kernel/geqrf_s"
clusters = "block_kernel/cluster_s"
swaps = "block_kernel/laswp_s"
name_of(s) = strstrt(s, "potrf") ? "Cholesky" : strstrt(s, "trtri") ? "inverse" : strstrt(s, "larft") ? "T of reflectors" : "look at an inverse"
set multiplot
set logscale x 2
set logscale y
eval place(0.15, 0.97, 0.735, 0.965, "Householder panels, and LU's (dashed) - ".machine).xlabel("rows").ylabel("microseconds")
widths = values(panels, "n")
lu_widths = values(clusters, "n")
if (words(widths) > 0) plot for [i=1:words(widths)] file(panels) using (column("m")*where("n", word(widths, i))*where("overlapped", 0)):(us("seconds")) \
	with linespoints lt i title word(widths, i)." columns", for [i=1:words(widths)] file(panels) \
	using (column("m")*where("n", word(widths, i))*where("overlapped", 1)):(us("seconds")) with lines lt i dt 3 notitle, \
	for [i=1:words(lu_widths)] file(clusters) using (column("m")*where("n", word(lu_widths, i))):(us("seconds")) \
	with linespoints lt i dt 2 notitle
eval place(0.15, 0.97, 0.41, 0.62, "Of a diagonal block").xlabel("order")
here = present("block_kernel/potrf_s block_kernel/trtri_s block_kernel/larft_s block_kernel/guard_s")
if (words(here) > 0) plot for [f in here] file(f) using "n":@in_us with yerrorlines title name_of(f)
eval place(0.15, 0.97, 0.09, 0.295, "Data movement")
set key maxrows 3
set xlabel "columns" offset 0,0.4
splits = present("block_kernel/tf32_split_s block_kernel/half_pair_s")
if (present(swaps) ne "") plot for [c=0:1] file(swaps) using (column("n")*where("swaps", 256)*where("cold", c)):@in_us with yerrorlines \
	lt c+1 title c ? "256 swaps, in DRAM" : "256 swaps, in L2", \
	for [f in present("block_kernel/apply_swaps_s")] file(f) using (column("n")):@in_us with yerrorlines lt 3 title "swaps of a square", \
	for [i=1:words(splits)] file(word(splits, i)) using (column("n")*where("k", 128)):@in_us with yerrorlines lt 3+i \
	title strstrt(word(splits, i), "half_pair") ? "operands, 3xFP16" : "operands, 3xTF32"
unset multiplot
