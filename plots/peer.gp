# SPDX-License-Identifier: MIT
# Title: Links between GPUs
# Question: How long do copies and loads between GPUs take?
# Chapter: links
# Figure: Above, payload over time from the call to completion, GPU 0 to GPU 1; below, copies of all pairs of GPUs with peer access.
# Parameters: link.peer.
height = 900
load scripts."/style.gp"
pair = present("peer/copy peer/copy_staged peer/both peer/load peer/store")
name_of(s) = system("echo '".s."' | sed 's,.*/,,; s,copy_staged,copy without peer access,; s,both,both ways (sum),; s,load,loads,; s,store,stores,'")
of_pair(from, to) = where("from", from) * where("to", to)
set multiplot
eval place(0.16, 0.97, 0.62, 0.94, "Links between GPUs - ".machine)
@bytes_axis
set logscale y
set format y "%g"
set xlabel "bytes" offset 0,0.4
set ylabel "GB/s of payload"
if (words(pair) > 0) plot for [f in pair] file(f) using (column("bytes") * of_pair(0, 1)):@in_GB with yerrorlines title name_of(f)
eval place(0.16, 0.97, 0.13, 0.42, "Copies, all pairs").xtics("('4 B' 4, '4 KiB' 2**12, '4 MiB' 2**22)")
senders = values("peer/copy", "from")
if (present("peer/copy") ne "") plot for [from in senders] for [to in values("peer/copy", "to")] file("peer/copy") \
	using (column("bytes") * of_pair(from + 0, to + 0)):(GB("seconds")) with linespoints lt (1 + from) \
	title (to eq word(senders, from eq word(senders, 1) ? 2 : 1) ? "from ".from : "")
unset multiplot
