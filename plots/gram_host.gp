# SPDX-License-Identifier: MIT
# The counterparts of Figures 2 and 4 of Brandes, Arnold, Soddemann and Reith (2012) for the host. gram_host.awk wrote
# work/NAME/SERIES.tsv.
height = 1150
load scripts."/style.gp"
all(pattern) = system("cd '".work."' && ls ".name."/".pattern." 2>/dev/null | sed 's,.tsv$,,' | sort -t _ -k 4 -n")
size(x) = system("echo '".x."' | sed 's,.*_,,'")
two = all("threads_kernels_*.tsv")
one = all("threads_fused_*.tsv")
blocked = all("threads_blocked_*.tsv")
widths = system("cd '".work."' && ls ".name."/width_*.tsv 2>/dev/null | sed 's,.tsv$,,' | sort -t _ -k 3 -n")
set multiplot layout 3,1
set logscale xy
set format y "10^{%L}"
set xlabel "threads" offset 0,0.4
set xtics (1, 2, 4, 8, 16, 32, 64, 128)
set ylabel "seconds a column"
set key maxrows 3

set title "Without blocks (Figure 2, left) - ".machine
plot for [j=1:words(two)] file(word(two, j)) using "threads":"seconds" with linespoints lt j title "n = ".size(word(two, j)).", two passes", \
	for [j=1:words(one)] file(word(one, j)) using "threads":"seconds" with linespoints lt j pt 6 title "one pass", \
	for [j=1:words(two)] file(word(two, j)) using "threads":"predicted" with lines lt j dt 2 notitle, \
	for [j=1:words(one)] file(word(one, j)) using "threads":"predicted" with lines lt j dt 3 notitle

set title "In blocks (Figure 2, right)"
plot for [j=1:words(blocked)] file(word(blocked, j)) using "threads":"seconds" with linespoints lt j title "n = ".size(word(blocked, j)), \
	for [j=1:words(blocked)] file(word(blocked, j)) using "threads":"predicted" with lines lt j dt 2 notitle, \
	NaN with lines lt 7 dt 2 title "predicted"

set title "The width of the blocks (Figure 4)"
set xlabel "nb" offset 0,0.4
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256)
set ylabel "Gflop/s"
unset logscale y
set format y "%g"
set yrange [0:*]
plot for [j=1:words(widths)] file(word(widths, j)) using "nb":"gflops" with linespoints lt j title "n = ".size(word(widths, j)), \
	for [j=1:words(widths)] file(word(widths, j)) using "nb":"predicted" with lines lt j dt 2 notitle, \
	NaN with lines lt 7 dt 2 title "predicted"
unset multiplot
