# SPDX-License-Identifier: MIT
# Title: Transfer between host and device
# Question: How long does a transfer between host and device take, from the call to its completion, by size, direction and kind of host memory?
# Chapter: links
# Figure: Payload over time from the call to completion. Dotted: alpha + bytes/beta fitted to the pinned transfers to the device. Thin: the other kinds of host memory.
# Parameters: link.
width = 520
height = 400
load scripts."/style.gp"
list = present("transfer/h2d_pinned transfer/d2h_pinned transfer/h2d_pageable transfer/d2h_pageable transfer/both_pinned")
thin = present("transfer/h2d_wc transfer/h2d_mapped transfer/d2h_mapped")
line_of(s) = s eq "transfer/h2d_pinned" ? 1 : s eq "transfer/d2h_pinned" ? 2 : s eq "transfer/h2d_pageable" ? 3 : s eq "transfer/d2h_pageable" ? 4 : 5
text_of(s) = (part(s, 1) eq "h2d" ? "to GPU, " : part(s, 1) eq "d2h" ? "to host, " : "both ways, ").last(s)
fit(bytes) = bytes / (link_h2d_pinned_alpha + bytes / link_h2d_pinned_beta) / 1e9
eval place(0.14, 0.71, 0.14, 0.98, "").nokey.xlabel("bytes").ylabel("GB/s of payload")
unset title
set logscale x 2
set xrange [256:*]
set xtics rotate by 0 ('1 KiB' 2**10, '32 KiB' 2**15, '1 MiB' 2**20, '32 MiB' 2**25, '1 GiB' 2**30)
set logscale y
set format y "%g"
name_gap = 0.052
plot for [f in thin] file(f) using "bytes":(GB("seconds")) with lines lt 7 lw 0.7, \
	for [i=1:words(list)] file(word(list, i)) using "bytes":(GB("seconds")) with lines lt line_of(word(list, i)), \
	for [i=1:words(list)] file(word(list, i)) using (column("bytes")):(GB("seconds")):(sprintf("%s: %.3g GB/s", size_label(column("bytes")), GB("seconds"))) \
	with labels hypertext point lt line_of(word(list, i)) ps 0.3, \
	exists("link_h2d_pinned_beta") ? fit(x) : NaN with lines lt 7 dt 3, \
	words(list) > 0 ? named(list, "bytes", "rate", "1e9", "log") : "/dev/null" using 1:2:3:4 @at_end
