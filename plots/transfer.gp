# SPDX-License-Identifier: MIT
# Title: Transfer between host and device
# Question: How long does a transfer between host and device take, from the call to its completion, by size, direction and kind of host memory?
# Figure: Payload over time from the call to completion. Dashed: alpha + bytes/beta fitted to the pinned transfers.
# Parameters: link.
height = 560
load scripts."/style.gp"
list = present("transfer/h2d_pinned transfer/d2h_pinned transfer/h2d_pageable transfer/d2h_pageable transfer/h2d_wc ".\
	"transfer/h2d_mapped transfer/d2h_mapped transfer/both_pinned")
name_of(s) = system("echo '".s."' | sed 's,.*/,,; s,_, ,; s,h2d,to device:,; s,d2h,to host:,; s,both,both ways:,; s,wc,write-combined,'")
h2d(bytes) = bytes / (link_h2d_pinned_alpha + bytes / link_h2d_pinned_beta) / 1e9
d2h(bytes) = bytes / (link_d2h_pinned_alpha + bytes / link_d2h_pinned_beta) / 1e9
set title "Transfer between host and device - ".machine
@bytes_axis
set logscale y
set format y "%g"
set xlabel "bytes"
set ylabel "GB/s of payload"
plot for [f in list] file(f) using "bytes":@in_GB with yerrorlines title name_of(f), \
	exists("link_h2d_pinned_beta") ? h2d(x) : NaN with lines lt 7 dt 2 title "fit, to device", \
	exists("link_d2h_pinned_beta") ? d2h(x) : NaN with lines lt 7 dt 4 title "fit, to host"
