# SPDX-License-Identifier: MIT
# Title: Load latency
# Question: How long does a dependent load take from shared memory, L1, L2 and DRAM, and how fast does one SM update a panel held in shared memory?
# Figure: Above, dependent loads around a random cycle against the size of the set; below, the rate of one SM's sweep over a panel in shared memory.
# Parameters: gpu.shared.latency gpu.l1.latency gpu.l2.latency gpu.dram.latency gpu.clock.sm gpu.load. gpu.shared.update gpu.sm.count gpu.shared.per_block gpu.l2.size
height = 800
load scripts."/style.gp"
loads = present("load_latency/shared load_latency/load_l1 load_latency/load_l2 load_latency/load_mixed load_latency/load_dram")
name_of(s) = s eq "load_latency/shared" ? "shared memory" : s eq "load_latency/load_l1" ? "L1 while it fits" : \
	s eq "load_latency/load_l2" ? "in L2" : s eq "load_latency/load_mixed" ? "larger than L2, warm" : "DRAM, L2 cold"
ns(c) = column(c) * 1e9
set multiplot
left = 0.15; right = 0.97; bottom = 0.53; top = 0.94
@panel
set title "Latency of a dependent load - ".machine
@bytes_axis
set logscale y
set xlabel "bytes of the set" offset 0,0.4
set ylabel "nanoseconds"
if (words(loads) > 0) {
	plot for [i=1:words(loads)] file(word(loads, i)) using "bytes":(ns("seconds")):(ns("low")):(ns("high")) \
		with yerrorlines lt i title name_of(word(loads, i))
}
left = 0.15; right = 0.97; bottom = 0.08; top = 0.33
if (present("load_latency/shared_update") ne "") {
	@panel
	unset key
	unset logscale y
	set xtics auto
	set xrange [*:*]
	set yrange [0:*]
	set title "Panel update in shared memory, one SM"
	set xlabel "threads"
	set ylabel "GB/s, read + written"
	plot file("load_latency/shared_update") using "threads":(GB("seconds")):(GB("high")):(GB("low")) with yerrorlines lt 3
}
unset multiplot
