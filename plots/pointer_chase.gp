# SPDX-License-Identifier: MIT
# Title: Pointer chase
# Question: How large and how fast is each level of the memory hierarchy?
# Chapter: memory
# Figure: Above, random chains against the size of the set, with the sizes and latencies found (dashed). Middle, the counterpart of Figure 1 of LAWN 202: cycles at a stride, one curve for each array size. Then chains over pages, one node in each. Below, the share of L2 lines whose first load by an SM took at most this time, after an SM of the other partition had read them (half of them are far), after one of the same partition, and when they were in memory only (dashed: near and far hits).
# Parameters: gpu.l1. gpu.l2. gpu.dram.latency gpu.readonly. gpu.constant. gpu.tlb. gpu.shared.latency gpu.cluster. gpu.load. gpu.clock.sm gpu.compute_capability gpu.sm. gpu.shared.per_block
height = 1640
load scripts."/style.gp"
chains = present("pointer_chase/chain_ca pointer_chase/chain_cg pointer_chase/chain_nc pointer_chase/chain_constant pointer_chase/cold")
cycles = present("pointer_chase/cycle_ca")
pages = present("pointer_chase/pages")
first = present("pointer_chase/once_other pointer_chase/once_same pointer_chase/once_absent")
read_by(s) = s eq "pointer_chase/once_other" ? "the other partition" : s eq "pointer_chase/once_same" ? "the same partition" : "nobody"
hits = "gpu_l2_near_hit_latency gpu_l2_far_hit_latency"
name_of(s) = s eq "pointer_chase/chain_ca" ? "ld.ca (L1)" : s eq "pointer_chase/chain_cg" ? "ld.cg (L2)" : \
	s eq "pointer_chase/chain_nc" ? "ld.nc (read-only)" : s eq "pointer_chase/cold" ? "L2 overwritten before" : "constant memory"
sizes_axis = "set xtics rotate by 0 ('8 B' 8, '256 B' 2**8, '4 KiB' 2**12, '64 KiB' 2**16, '1 MiB' 2**20, '16 MiB' 2**24, ".\
	"'256 MiB' 2**28, '4 GiB' 2**32, '64 GiB' 2**36)"
dash(i) = i > 8 ? 4 : 1 # there are eight colours

# Sizes and latencies of the profile: a line each.
marks = "gpu_l1_size gpu_constant_size gpu_l2_near_size gpu_l2_size"
latencies = "gpu_l1_latency gpu_constant_latency gpu_l2_latency gpu_dram_latency"
mark_name(name) = name eq "gpu_l1_size" ? "L1" : name eq "gpu_constant_size" ? "constant" : name eq "gpu_l2_size" ? "L2" : "near L2"
mark_sizes = "do for [i=1:words(marks)] { if (exists(word(marks, i))) { ".\
	"set arrow 10+i from first known(word(marks, i)), graph 0 to first known(word(marks, i)), graph 1 nohead lt 7 dt 2; ".\
	"set label 10+i mark_name(word(marks, i)).' '.size_label(known(word(marks, i))) at first known(word(marks, i)), ".\
	"graph (i > 2 ? 0.03 : 0.97) rotate by 90 offset -0.6,0 noenhanced; ".\
	"if (i > 2) { set label 10+i left } else { set label 10+i right } } }" # of L2 below the curves, of the others above them
unmark = "do for [i=11:20] { unset arrow i; unset label i }"

set multiplot
set logscale x 2
set logscale y
eval place(0.12, 0.97, 0.786, 0.964, "Latency of a dependent load in a random chain - ".machine)
set key maxrows 2
set ylabel "nanoseconds"
set xlabel "bytes of the set" offset 0,0.4
@sizes_axis
if (words(chains) > 0) {
	@mark_sizes
	plot for [f in chains] file(f) using "bytes":@in_ns with yerrorlines title name_of(f), \
		for [f in latencies] known(f)*1e9 with lines lt 7 dt 3 notitle
	@unmark
}
eval place(left, right, 0.524, 0.683, "Cycles over arrays of these sizes, ld.ca")
set key maxrows 3
set xlabel "stride, bytes" offset 0,0.4
@sizes_axis
if (words(cycles) > 0) {
	arrays = values("pointer_chase/cycle_ca", "bytes")
	plot for [i=1:words(arrays)] file("pointer_chase/cycle_ca") using (column("stride")*where("bytes", real(word(arrays, i)))):(ns("seconds")) \
		with lines lt i dt dash(i) title size_label(real(word(arrays, i)))
}
eval place(left, right, 0.274, 0.421, "Chains over pages, ld.cg: a random line in each of these strides")
set key maxrows 2
unset logscale y
set xlabel "bytes from the first to the last page" offset 0,0.4
@sizes_axis
if (words(pages) > 0) {
	strides = values("pointer_chase/pages", "stride")
	plot for [f in strides] file("pointer_chase/pages") using (column("nodes")*column("stride")*where("stride", real(f))):@in_ns \
		with yerrorlines title size_label(real(f)), \
		file("pointer_chase/packed") using (column("nodes")*real(word(strides, 1))):(ns("seconds")) with lines lt 7 dt 2 title "dense lines"
}
eval place(left, right, 0.061, 0.171, "First load of an L2 line, ld.cg, read before by an SM of")
unset logscale x
set xlabel "nanoseconds" offset 0,0.4
set xtics auto format "%g"
set ylabel "share of lines"
set yrange [0:1]
if (words(first) > 0) plot for [f in first] file(f) every 12 using (ns("seconds")):(1) smooth cnormal with lines title read_by(f), \
	for [f in hits] "+" using (known(f)*1e9):($0/99.) with lines lt 7 dt 2 notitle
unset multiplot
