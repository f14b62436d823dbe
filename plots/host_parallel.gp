# SPDX-License-Identifier: MIT
# Title: Host threads
# Question: How long do an OpenMP parallel region and a barrier take, and how many multiply-adds do threads do?
# Chapter: host
# Figure: Bound threads, long rows of empty regions and of barriers.
# Parameters: host.parallel. host.fma.
load scripts."/style.gp"
list = present("host_parallel/fork host_parallel/barrier")
set title "OpenMP on the host - ".machine
set logscale x 2
set xlabel "threads"
set ylabel "microseconds"
set yrange [0:*]
plot for [f in list] file(f) using "threads":@in_us with yerrorlines title f eq "host_parallel/fork" ? "parallel region" : "barrier"
