# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figure 6: rates of square products and of thin ones, k = 64, against n. lawn_products.awk wrote
# work/NAME/{square,thin}_{volkov,own,cublas,host}.tsv (n, tflops).
height = 520
load scripts."/style.gp"
series = prefixed("", "square_volkov square_own square_cublas square_host thin_volkov thin_own thin_cublas thin_host")
title_of(v) = v eq "volkov" ? "LAWN 202" : v eq "own" ? "our own" : v eq "host" ? "OpenBLAS, host" : "cuBLAS"
line_of(v) = v eq "volkov" ? 1 : v eq "own" ? 3 : v eq "host" ? 5 : 7
shape(s) = part(s, 1)
dash(s) = shape(s) eq "thin" ? 4 : 1
set title "Square products and thin ones, k = 64, single precision - ".machine
set logscale x 2
set xlabel "m = n"
set ylabel "Tflop/s"
set yrange [0:*]
set key maxrows 3
plot for [f in series] file(f) using "n":"tflops" with linespoints lt line_of(part(f, 2)) dt dash(f) \
	title title_of(part(f, 2)).", ".shape(f)
