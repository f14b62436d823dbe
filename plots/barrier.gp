# SPDX-License-Identifier: MIT
# Title: Barriers and exchanges inside a kernel
# Question: How long do barriers, block reductions and exchanges inside a kernel take?
# Chapter: inside
# Figure: Above, across blocks; below, within one block. Dashed: one dependent kernel launch, which a barrier replaces.
# Parameters: gpu.barrier. gpu.reduce. gpu.exchange. gpu.flag.sm_to_sm
height = 860
load scripts."/style.gp"
across = present("barrier/master barrier/counter barrier/grid")
cluster = present("barrier/cluster barrier/exchange_cluster")
block = present("barrier/block barrier/reduce_max barrier/reduce_sum")
records = present("barrier/exchange_grid") eq "" ? "" : word(values("barrier/exchange_grid", "words"), 1)
scaled(c, to) = column(c) * to
set multiplot
set key maxrows 4
set logscale x 2
eval place(0.15, 0.97, 0.60, 0.95, "Barriers and exchanges across blocks - ".machine).logscale("y").xlabel("blocks").ylabel("microseconds")
if (words(across) + words(cluster) > 0) plot for [f in across] file(f) using (column("blocks")*where("threads", 256)):@in_us \
	with yerrorlines title label(f)." barrier, 256 threads", \
	for [i=1:words(cluster)] file(word(cluster, i)) using "blocks":@in_us with yerrorlines lt i+3 \
	title word(cluster, i) eq "barrier/cluster" ? "cluster barrier" : "128 bytes to all of a cluster", \
	for [f in records] file("barrier/exchange_grid") using (column("blocks")*where("words", records)):@in_us with yerrorlines lt 6 \
	title records." words to the whole grid", \
	exists("gpu_launch_dependent") ? gpu_launch_dependent*1e6 : NaN with lines lt 7 dt 2 title "one dependent launch"
eval place(0.15, 0.97, 0.11, 0.32, "Within one block").xname("threads").ylabel("nanoseconds")
if (words(block) > 0) plot for [f in block] file(f) using "threads":@in_ns with yerrorlines \
	title f eq "barrier/block" ? "__syncthreads" : f eq "barrier/reduce_max" ? "maximum with index" : "sum"
unset multiplot
