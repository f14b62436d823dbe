# SPDX-License-Identifier: MIT
# The counterparts of Figures 2 and 4 of Brandes, Arnold, Soddemann and Reith (2012) for the host. gram_host.awk wrote
# work/NAME/SERIES.tsv.
height = 1150
load scripts."/style.gp"
one = all_of("threads_fused_*", 4)
key_of(s) = "n = ".last(s).(part(s, 2) eq "kernels" ? ", two passes" : "")
set multiplot layout 3,1
set logscale xy
set format y "10^{%L}"
set xlabel "threads" offset 0,0.4
set xtics (1, 2, 4, 8, 16, 32, 64, 128)
set ylabel "seconds a column"
set key maxrows 3
set title "Without blocks (Figure 2, left) - ".machine
two = all_of("threads_kernels_*", 4)
plot for [f in two] file(f) using "threads":"seconds" with linespoints title key_of(f), \
	for [j=1:words(one)] file(word(one, j)) using "threads":"seconds" with linespoints lt j pt 6 title "one pass", \
	for [j=1:words(two)] file(word(two, j)) using "threads":"predicted" with lines lt j dt 2 notitle, \
	for [j=1:words(one)] file(word(one, j)) using "threads":"predicted" with lines lt j dt 3 notitle
set title "In blocks (Figure 2, right)"
eval curves(all_of("threads_blocked_*", 4), "threads", "seconds", "predicted", 1)
plot @both, @dashed
set title "The width of the blocks (Figure 4)"
set xlabel "nb" offset 0,0.4
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
set ylabel "Gflop/s"
unset logscale y
set format y "%g"
set yrange [0:*]
eval curves(all_of("width_*", 3), "nb", "gflops", "predicted", 1)
plot @both, @dashed
unset multiplot
