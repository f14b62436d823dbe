# SPDX-License-Identifier: MIT
# Title: Host memory
# Question: How fast does the host read, write and copy memory, against size and threads?
# Chapter: host
# Figure: Plain loops, every thread on its own part; copies count bytes read plus bytes written. Bars span the processes.
# Parameters: host.memory.
height = 860
load scripts."/style.gp"
ways = present("host_memory/copy host_memory/read host_memory/write")
set multiplot
@bytes_axis
set yrange [0:*]
set ylabel "GB/s"
set xlabel "bytes of the working set" offset 0,0.4
do for [i=1:words(ways)] {
	s = word(ways, i)
	teams = values(s, "threads")
	left = i == 3 ? 0.64 : 0.15
	right = i == 2 ? 0.5 : 0.97
	top = i == 1 ? 0.95 : 0.36
	bottom = i == 1 ? 0.55 : 0.08
	@panel
	if (i > 1) { unset key; set xtics ('32 KiB' 2**15, '1 MiB' 2**20, '32 MiB' 2**25, '1 GiB' 2**30) }
	set title i == 1 ? "Host memory: copy, read + written - ".machine : label(s)
	plot for [f in teams] file(s) using (column("bytes")*where("threads", f)):@in_GB with yerrorlines \
		title f.(f == 1 ? " thread" : " threads")
}
unset multiplot
