# SPDX-License-Identifier: MIT
# Title: Launches by kernels
# Question: What does a launch cost that a kernel makes?
# Chapter: start
# Figure: Start to start of null kernels behind a hold: in the tail stream of a kernel, each the tail of the one before, at once, and launched by the host in the same process. Dashed: a dependent launch in a process without the device's runtime.
# Parameters: gpu.launch.device.
height = 300
load scripts."/style.gp"
kinds = present("device_launch/tail device_launch/chain device_launch/fire device_launch/host")
name_of(s) = base(s) eq "tail" ? "tail of a kernel" : base(s) eq "chain" ? "chain of tails" : base(s) eq "fire" ? "at once" : "by the host"
set title "Launches by kernels - ".machine
set lmargin at screen 0.22
set xlabel "microseconds" offset 0,0.4
set xrange [0:*]
set yrange [0.3:words(kinds) + 0.7]
set ytics ("" 0)
set for [i=1:words(kinds)] ytics add (name_of(word(kinds, i)) i) noenhanced scale 0
if (exists("gpu_launch_dependent")) set arrow from gpu_launch_dependent*1e6, graph 0 to gpu_launch_dependent*1e6, graph 1 nohead lt 7 dt 2
if (words(kinds) > 0) plot for [i=1:words(kinds)] file(word(kinds, i)) using (us("seconds")):(i):(us("low")):(us("high")) with xerrorbars lt 2 notitle
