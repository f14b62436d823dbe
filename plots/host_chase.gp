# SPDX-License-Identifier: MIT
# Title: Host caches and TLBs
# Question: How large and how fast are the host's caches, TLBs and memory?
# Chapter: host
# Figure: Above, random chains over all lines of a set, with the cache sizes found (dashed). Below, chains over one line in each page beside chains over the same number of lines in few pages: the difference is the cost of the TLBs.
# Parameters: host.l1. host.l2. host.l3. host.l4. host.dram. host.tlb. host.line.
height = 860
load scripts."/style.gp"
chains = present("host_chase/chain_huge host_chase/chain_small host_chase/chain_node")
pages = present("host_chase/packed host_chase/pages_small host_chase/pages_huge")
name_of(s) = s eq "host_chase/chain_huge" ? "huge pages" : s eq "host_chase/chain_small" ? "small pages" : \
	s eq "host_chase/chain_node" ? "each NUMA node" : s eq "host_chase/packed" ? "lines in few pages" : \
	s eq "host_chase/pages_small" ? "one line a small page" : "one line a huge page"
found = "host_l1_size host_l2_size host_l3_size host_l4_size"
set multiplot
set logscale y
set ylabel "nanoseconds"
eval place(0.14, 0.97, 0.55, 0.95, "Latency of a dependent load - ".machine)
@bytes_axis
set xlabel "bytes of the set" offset 0,0.4
do for [i=1:words(found)] {
	if (exists(word(found, i))) {
		set arrow i from first value(word(found, i)), graph 0 to first value(word(found, i)), graph 1 nohead lt 7 dt 2
		set label i sprintf("L%d %s", i, size_label(value(word(found, i)))) at first value(word(found, i)), graph 0.98 \
			rotate right offset -0.7,0 noenhanced
	}
}
if (words(chains) > 0) plot for [f in chains] file(f) using "bytes":@in_ns with yerrorlines title name_of(f)
do for [i=1:words(found)] { unset arrow i; unset label i }
eval place(left, right, 0.13, 0.4, "One line in each page").xrange("*:*").xtics("auto").xlabel("lines")
if (words(pages) > 0) plot for [f in pages] file(f) using "nodes":@in_ns with yerrorlines title name_of(f)
unset multiplot
