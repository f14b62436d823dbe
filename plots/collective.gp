# SPDX-License-Identifier: MIT
# Title: Several GPUs at once
# Question: How long do operations of several GPUs at once take?
# Chapter: links
# Figure: Above, NCCL's operations among the GPUs named: bytes of the message over time; below, transfers between pinned memory and several GPUs at once, sum of all; dashed: as many times the rate of one.
# Parameters: link.nccl. link.h2d.all link.d2h.all link.h2d.each link.d2h.each gpu.each.
height = 960
load scripts."/style.gp"
groups = present("collective/broadcast collective/allreduce collective/allgather")
moves = present("collective/h2d_all collective/d2h_all")
name_of(s) = base(s) eq "allreduce" ? "all-reduce" : base(s) eq "allgather" ? "all-gather" : base(s)
alone(s) = word(system("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 && $c[\"gpus\"] == 1 { print $c[\"bytes\"] / $c[\"seconds\"] / 1e9; exit }' '".file(s)."'"), 1) + 0
set multiplot
eval place(0.16, 0.97, 0.60, 0.94, "NCCL - ".machine)
@bytes_axis
set logscale y
set format y "%g"
set xlabel "bytes" offset 0,0.4
set ylabel "GB/s"
if (words(groups) > 0) plot for [i=1:words(groups)] for [n in values(word(groups, i), "gpus")] file(word(groups, i)) \
	using (column("bytes") * where("gpus", n + 0)):@in_GB with yerrorlines lt i pt (3 + 2 * n) title name_of(word(groups, i)).", ".n." GPUs"
unset logscale
eval place(0.16, 0.97, 0.13, 0.36, "Transfers with the host at once").xrange("0:*").yrange("0:*").xtics("1")
set xlabel "GPUs" offset 0,0.4
if (words(moves) > 0) plot for [i=1:words(moves)] file(word(moves, i)) using "gpus":@in_GB with yerrorlines lt i \
	title (base(word(moves, i)) eq "h2d_all" ? "to the GPUs" : "to the host"), \
	for [i=1:words(moves)] file(word(moves, i)) using "gpus":(column("gpus") * alone(word(moves, i))) with lines lt i dt 2 notitle
unset multiplot
