# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figure 5: run time of products with k = 1024 against the number of 64 x 16 blocks in C.
# lawn_products.awk wrote work/NAME/{one,split,own,own_split,cublas}.tsv (blocks, us).
height = 520
load scripts."/style.gp"
series = prefixed("", "one split own own_split cublas")
which(s) = system("basename ".s)
title_of(s) = s eq "one" ? "LAWN 202, one kernel" : s eq "split" ? "LAWN 202, two stages" : s eq "own" ? "our own" : \
	s eq "own_split" ? "our own, k in parts" : "cuBLAS"
line_of(s) = s eq "one" ? 1 : s eq "split" ? 2 : s eq "cublas" ? 7 : 3
dash(s) = s eq "own_split" ? 4 : 1
set title "Products for small C, k = 1024, single precision - ".machine
set logscale xy
set logscale x 2
set xlabel "64 x 16 blocks of C"
set ylabel "microseconds"
set format y "%g"
set key maxrows 2
plot for [f in series] file(f) using "blocks":"us" with linespoints lt line_of(which(f)) dt dash(which(f)) title title_of(which(f))
