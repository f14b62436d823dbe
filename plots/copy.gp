# SPDX-License-Identifier: MIT
# Title: Device memory
# Question: How fast do a device-memory copy, a read and a write run, against size, stride, misalignment, access width and bytes in flight?
# Chapter: memory
# Figure: Start to start of dependent kernels. Filled: L2 warm; open: L2 cold; dashed: alpha + bytes/beta fitted to the cold copies. Copies count bytes read plus bytes written.
# Parameters: gpu.copy.alpha gpu.copy.beta gpu.copy.n_half gpu.copy.time gpu.copy.stride gpu.copy.misaligned gpu.copy.aligned_head gpu.copy.width gpu.copy.inflight gpu.read. gpu.write. gpu.dram.copy gpu.dram.read gpu.dram.write gpu.l2.copy gpu.l2.read gpu.l2.write
height = 1120
load scripts."/style.gp"
warm = present("copy/copy_warm copy/read_warm copy/write_warm")
cold = present("copy/copy_cold copy/read_cold copy/write_cold")
kind(s) = s[6:strlen(s)-5]
rate(bytes) = bytes / (gpu_copy_alpha + bytes / gpu_copy_beta) / 1e9
fitted = exists("gpu_copy_alpha") && exists("gpu_copy_beta")
set multiplot
eval place(0.15, 0.97, 0.68, 0.965, "Device memory: rate against size - ".machine)
@bytes_axis
set logscale y
set xlabel "bytes moved by the kernel" offset 0,0.4
set ylabel "GB/s"
if (words(warm) + words(cold) > 0) plot for [f in warm] file(f) using "bytes":@in_GB with yerrorlines title kind(f).", L2 warm", \
	for [i=1:words(cold)] file(word(cold, i)) using "bytes":@in_GB with yerrorlines lt i pt int(word("6 4 8", i)) lw 1 \
	title kind(word(cold, i)).", L2 cold", fitted ? rate(x) : NaN with lines lt 7 dt 2 title "fit: alpha + bytes/beta"
set xtics auto
set xrange [*:*]
eval place(0.15, 0.5, 0.36, 0.51, "Stride, L2 cold").xlabel("4-byte words apart").xtics("(1, 4, 16, 64, 256)")
sizes = values("copy/stride_cold", "words")
if (present("copy/stride_cold") ne "") plot for [f in sizes] file("copy/stride_cold") \
	using (column("stride")*where("words", f)):(GB("seconds")) with linespoints title sprintf("%.0f Ki words", f/1024.)
unset logscale y
set xtics autofreq
set yrange [0:*]
eval place(0.64, 0.97, 0.36, 0.51, "Bytes in flight").xlabel("KiB of loads in flight per SM").nokey
if (present("copy/inflight_cold") ne "") plot file("copy/inflight_cold") using (column("inflight")/1024):@in_GB with yerrorlines lt 1
shifted = present("copy/misaligned_cold copy/aligned_head_cold")
eval place(0.15, 0.5, 0.085, 0.225, "Misalignment").xlabel("bytes from an aligned address")
if (words(shifted) > 0) plot for [f in shifted] file(f) using "offset":@in_GB with yerrorlines \
	title f eq "copy/misaligned_cold" ? "plain" : "aligned body + head"
eval place(0.64, 0.97, 0.085, 0.225, "Access width").xlabel("bytes of one thread's access").nokey
if (present("copy/width_cold") ne "") plot file("copy/width_cold") using "width":@in_GB with yerrorlines lt 1
unset multiplot
