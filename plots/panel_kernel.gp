# SPDX-License-Identifier: MIT
# Title: Steps of our own panel kernels
# Question: How long do the steps of our own panel kernels take?
# Figure: Above, a column of the resident kernel (exchange, division, search) against blocks; below, the fused variant's two kernels alternately and its pivot kernel alone, start to start, against rows. Single precision. Dashed: one dependent kernel launch. Below, the rate of one SM's sweep over a panel that it holds in shared memory.
# Parameters: gpu.panel. gpu.shared.update
height = 1200
load scripts."/style.gp"
us(c) = column(c) * 1e6
column_s = "panel_kernel/column_s"
step_s = "panel_kernel/step_s"
pivot_s = "panel_kernel/pivot_s"
widths = present(column_s) eq "" ? "" : values(column_s, "n")
updates = present(step_s) eq "" ? "" : values(step_s, "n")
set multiplot
set logscale x 2
left = 0.15; right = 0.97; bottom = 0.69; top = 0.96
@panel
set title "A column of the resident panel - ".machine
set xlabel "blocks" offset 0,0.4
set ylabel "microseconds"
set yrange [0:*]
if (words(widths) > 0) {
	plot for [i=1:words(widths)] file(column_s) \
		using (column("blocks")*where("n", word(widths, i))*where("rows", 128)):(us("seconds")):(us("low")):(us("high")) \
		with yerrorlines lt i title word(widths, i)." columns", \
		exists("gpu_launch_dependent") ? gpu_launch_dependent*1e6 : NaN with lines lt 7 dt 2 title "one dependent launch"
}
left = 0.15; right = 0.97; bottom = 0.375; top = 0.57
@panel
set title "Fused kernels: pivot and update in turns, and pivot alone"
set logscale y
set yrange [*:*]
set xlabel "rows"
set ylabel "microseconds"
if (words(updates) > 0) {
	plot for [i=1:words(updates)] file(step_s) \
		using (column("m")*where("n", word(updates, i))):(us("seconds")):(us("low")):(us("high")) \
		with yerrorlines lt i title "both, ".word(updates, i)." columns", \
		for [i=1:words(present(pivot_s))] file(pivot_s) \
		using (column("m")*where("n", 32)):(us("seconds")):(us("low")):(us("high")) \
		with yerrorlines lt 8 title "pivot, 32 columns"
}
left = 0.15; right = 0.97; bottom = 0.06; top = 0.235
if (present("panel_kernel/shared_update") ne "") {
	@panel
	unset key
	unset logscale y
	set yrange [0:*]
	set title "Panel update in shared memory, one SM"
	set xlabel "threads"
	set ylabel "GB/s, read + written"
	plot file("panel_kernel/shared_update") using "threads":(GB("seconds")):(GB("high")):(GB("low")) with yerrorlines lt 3
}
unset multiplot
