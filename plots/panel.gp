# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figure 3: rates of an LU panel factorization against m. panel.awk wrote
# work/NAME/{measured,predicted}_VARIANT.tsv and estimate_*.tsv (m, gflops, low, high); nb, executor.
height = 580
load scripts."/style.gp"
variants = "blas optimized fused persistent host cusolver ger"
title_of(v) = v eq "host" ? (executor eq "host" ? "LAPACKE" : "CPU + transfer") : \
	v eq "ger" ? "ger alone (ceiling)" : v eq "cusolver" ? "cuSOLVER (reference)" : v
line_of(v) = v eq "blas" ? 1 : v eq "optimized" ? 4 : v eq "fused" ? 3 : v eq "persistent" ? 2 : \
	v eq "host" ? 5 : v eq "cusolver" ? 7 : 6
measured = prefixed("measured_", variants)
predicted = prefixed("predicted_", variants)
estimates = present(name."/estimate_launch ".name."/estimate_barrier")
m(i) = word(measured, i)
p(i) = word(predicted, i)
e(i) = word(estimates, i)
by_launch(s) = s eq name."/estimate_launch"
dash(s) = by_launch(s) ? 4 : 3
set key maxrows 5
set pointsize 1.4
set title "LU panel, m x ".nb.", single precision - ".machine
set logscale xy
set format y "%g"
set xlabel "m"
set ylabel "Gflop/s"
plot for [i=1:words(predicted)] file(p(i)) using "m":"low":"high" with filledcurves \
	lt line_of(last(p(i))) fs transparent solid 0.18 noborder notitle, \
	for [i=1:words(predicted)] file(p(i)) using "m":"gflops" with lines lt line_of(last(p(i))) dt 2 notitle, \
	for [i=1:words(measured)] file(m(i)) using "m":"low":(0):(column("high")-column("low")) with vectors nohead \
	lt line_of(last(m(i))) notitle, \
	for [i=1:words(measured)] file(m(i)) using "m":"gflops" with points lt line_of(last(m(i))) title title_of(last(m(i))), \
	for [i=1:words(estimates)] file(e(i)) using "m":"gflops" with lines lt 7 dt dash(e(i)) \
	title "estimate by eq. (2), ".(by_launch(e(i)) ? "launches" : "barriers"), \
	NaN with lines lt 7 dt 2 title "dashed: predicted before the run"
