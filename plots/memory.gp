# SPDX-License-Identifier: MIT
# Latency of a load and rate of a copy against size: the series of pointer_chase and copy.
width = 520
count(files) = int(system("ls ".work."/".files." 2>/dev/null | grep -c ."))
lower = count("copy/copy_*.tsv") ? 301 : 0 # pixels that the lower panel takes
height = lower && !count("pointer_chase/chain_*.tsv") ? lower : 289 + lower
load scripts."/style.gp"
chains = present("pointer_chase/chain_ca pointer_chase/chain_cg")
copies = present("copy/copy_warm copy/copy_cold")
levels = "gpu_l1_size gpu_l2_near_size gpu_l2_size"
name_of(s) = s eq "gpu_l1_size" ? "L1" : "near L2"
text_of(s) = s eq "pointer_chase/chain_ca" ? "cached" : s eq "pointer_chase/chain_cg" ? "in L2 only" : s eq "copy/copy_warm" ? "L2 warm" : "L2 cold"
line_of(s) = text_of(s) eq "cached" || text_of(s) eq "L2 warm" ? 1 : 2
set multiplot
unset key
set logscale x 2
set logscale y
set xtics rotate by 0 ('1 KiB' 2**10, '64 KiB' 2**16, '4 MiB' 2**22, '256 MiB' 2**28, '16 GiB' 2**34)
eval place(0.17, 0.84, (59.+lower)/height, (257.+lower)/height, "Latency of a load in a random chain").nokey.xlabel("bytes of the set").ylabel("nanoseconds")
do for [i=1:words(chains) ? words(levels) : 0] {
	if (exists(word(levels, i))) {
		set arrow i from first known(word(levels, i)), graph 0 to first known(word(levels, i)), graph 1 nohead lt 7 dt 2
		if (word(levels, i) eq "gpu_l2_size") {
			set label i "L2" at first gpu_l2_size, graph 0.96 left offset 0.4,0
		} else {
			set label i name_of(word(levels, i)) at first known(word(levels, i)), graph 0.96 right offset -0.4,0
		}
	}
}
if (words(chains) > 0) plot for [i=1:words(chains)] file(word(chains, i)) using "bytes":(ns("seconds")) with lines lt i, \
	for [i=1:words(chains)] file(word(chains, i)) using (column("bytes")):(ns("seconds")):(sprintf("%s: %.3g ns", size_label(column("bytes")), ns("seconds"))) \
	with labels hypertext point lt i ps 0.3, \
	named(chains, "bytes", "seconds", "1e-9", "log") using 1:2:3:4 @at_end
do for [i=1:words(levels)] { unset arrow i; unset label i }
eval place(0.17, 0.84, 59./height, 257./height, "Copy within device memory").nokey.xlabel("bytes moved, read + written").ylabel("GB/s")
if (words(copies) > 0) plot for [i=1:words(copies)] file(word(copies, i)) using "bytes":(GB("seconds")) with lines lt i, \
	for [i=1:words(copies)] file(word(copies, i)) using (column("bytes")):(GB("seconds")):(sprintf("%s: %.3g GB/s", size_label(column("bytes")), GB("seconds"))) \
	with labels hypertext point lt i ps 0.3, \
	exists("gpu_dram_copy") ? gpu_dram_copy * 1e-9 : NaN with lines lt 7 dt 3, \
	named(copies, "bytes", "rate", "1e9", "log") using 1:2:3:4 @at_end
unset multiplot
