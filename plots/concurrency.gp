# SPDX-License-Identifier: MIT
# Title: At once
# Question: Which operations overlap on the GPU, and how many launches does a stream queue?
# Chapter: start
# Figure: Above left, the share of the shorter operation that overlaps with the longer one; above right, batches of transfers (rows: of 16 bytes each, bound by their engine) against their number; below left, batches of kernels of one block; below right, times of a launch, a wait between streams and a high-priority kernel beside other work.
# Parameters: gpu.overlap. gpu.concurrent. gpu.copy.engines gpu.priority. gpu.queue. gpu.launch.enqueue_idle gpu.launch.enqueue_busy gpu.launch.enqueue_held
height = 980
load scripts."/style.gp"
overlaps = "h2d d2h both directions memory_h2d memory_d2h halves small"
told = "'arithmetic + to device' 'arithmetic + to host' 'arithmetic + both ways' 'to device + to host' ".\
	"'memory copy + to device' 'memory copy + to host' 'two half kernels' 'large + small kernel'"
known(s) = exists("gpu_overlap_".s) ? value("gpu_overlap_".s) : NaN
copies = present("concurrency/copies_h2d concurrency/copies_d2h concurrency/copies_mixed concurrency/rows_h2d ".\
	"concurrency/rows_d2h concurrency/rows_mixed")
copies_of(s) = system("echo '".s."' | sed 's,.*/,,; s,_, ,; s,copies ,,; s,h2d,to device,; s,d2h,to host,; s,mixed,both ways,'")
costs = present("concurrency/enqueue_idle concurrency/enqueue_busy concurrency/enqueue_held concurrency/dependent_idle ".\
	"concurrency/dependent_busy concurrency/stream_wait_idle concurrency/stream_wait_busy concurrency/stream_wait_h2d concurrency/stream_wait_d2h concurrency/urgent_idle concurrency/urgent")
set multiplot
eval place(0.31, 0.52, 0.66, 0.94, "Overlap - ".machine).nokey.xrange("-0.1:1.15").yrange("0.3 : words(overlaps) + 0.7")
eval xname("1: hidden, 0: in turn").xtics("0.5")
unset ytics
set for [i=1:words(overlaps)] ytics add (word(told, i) words(overlaps) + 1 - i) noenhanced scale 0
plot for [i=1:words(overlaps)] '+' using (known(word(overlaps, i))):(words(overlaps) + 1 - i) every ::0::0 with points lt 1 ps 0.9
unset ytics
set ytics auto nomirror scale 1
set xtics auto
set yrange [*:*]
eval place(0.65, 0.97, 0.66, 0.94, "Transfers at once").xrange("0.8:6.2").xtics("1").logscale("y")
set xlabel "transfers" offset 0,0.6
set ylabel "milliseconds for all" offset 1,0
if (words(copies) > 0) plot for [f in copies] file(f) using "copies":@in_ms with yerrorlines title copies_of(f)
unset logscale
unset key
set xtics auto
eval place(0.12, 0.42, 0.07, 0.40, "Kernels at once").ylabel("milliseconds for all").nokey.xrange("*:*").yrange("0:*").logscale("x 4")
eval xname("kernels of one block")
if (present("concurrency/kernels") ne "") plot file("concurrency/kernels") using "kernels":@in_ms with yerrorbars lt 1
unset logscale
eval place(0.65, 0.97, 0.07, 0.40, "Beside other work").nokey.logscale("x").xrange("*:*").yrange("0.3 : words(costs) + 0.7")
eval xname("microseconds (urgent: by priority)")
unset ylabel
unset ytics
set for [i=1:words(costs)] ytics add (label(word(costs, i)) words(costs) + 1 - i) noenhanced scale 0
if (words(costs) > 0) plot for [i=1:words(costs)] file(word(costs, i)) using (us("seconds")):(words(costs) + 1 - i):(us("low")):(us("high")) \
	with xerrorbars lt (strstrt(word(costs, i), "enqueue") ? 1 : strstrt(word(costs, i), "urgent") ? 3 : 2)
unset multiplot
