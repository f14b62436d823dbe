# SPDX-License-Identifier: MIT
# Title: Steps of our own panel kernels
# Question: How long do the steps of our own panel kernels take?
# Figure: Above, a column of the resident kernel (exchange, division, search) against blocks; below, the fused variant's two kernels alternately and its pivot kernel alone, start to start, against rows. Single precision. Dashed: one dependent kernel launch. Below, the rate of one SM's sweep over a panel that it holds in shared memory.
# Parameters: gpu.panel. gpu.shared.update
height = 1200
load scripts."/style.gp"
column_s = "panel_kernel/column_s"
step_s = "panel_kernel/step_s"
pivot_s = "panel_kernel/pivot_s"
widths = values(column_s, "n")
updates = values(step_s, "n")
set multiplot
set logscale x 2
eval place(0.15, 0.97, 0.69, 0.96, "A column of the resident panel - ".machine).xlabel("blocks").ylabel("microseconds").yrange("0:*")
if (words(widths) > 0) plot for [f in widths] file(column_s) using (column("blocks")*where("n", f)*where("rows", 128)):@in_us \
	with yerrorlines title f." columns", \
	exists("gpu_launch_dependent") ? gpu_launch_dependent*1e6 : NaN with lines lt 7 dt 2 title "one dependent launch"
eval place(0.15, 0.97, 0.375, 0.57, "Fused kernels: pivot and update in turns, and pivot alone").logscale("y").yrange("*:*").xname("rows")
eval ylabel("microseconds")
if (words(updates) > 0) plot for [i=1:words(updates)] file(step_s) using (column("m")*where("n", word(updates, i))):@in_us \
	with yerrorlines lt i title "both, ".word(updates, i)." columns", for [i=1:words(present(pivot_s))] file(pivot_s) \
	using (column("m")*where("n", 32)):@in_us with yerrorlines lt 8 title "pivot, 32 columns"
eval place(0.15, 0.97, 0.06, 0.235, "Panel update in shared memory, one SM").ylabel("GB/s, read + written").nokey
unset logscale y
set yrange [0:*]
set xlabel "threads"
if (present("panel_kernel/shared_update") ne "") plot file("panel_kernel/shared_update") using "threads":@in_GB with yerrorlines lt 3
unset multiplot
