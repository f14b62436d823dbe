# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figure 3: rates of an LU panel factorization against m. panel.awk wrote
# work/NAME/{measured,predicted}_VARIANT.tsv and estimate_*.tsv (m, gflops, low, high); nb, executor.
width = 520
height = 420
load scripts."/style.gp"
variants = "blas optimized fused persistent host cusolver ger"
line_of(s) = last(s) eq "blas" ? 1 : last(s) eq "optimized" ? 4 : last(s) eq "fused" ? 3 : last(s) eq "persistent" ? 2 : \
	last(s) eq "host" ? 5 : last(s) eq "cusolver" ? 7 : 6
measured = prefixed("measured_", variants)
predicted = prefixed("predicted_", variants)
estimates = present(name."/estimate_launch ".name."/estimate_barrier")
m(i) = word(measured, i)
p(i) = word(predicted, i)
e(i) = word(estimates, i)
by_launch(s) = s eq name."/estimate_launch"
dash(s) = by_launch(s) ? 4 : 3
text_of(s) = last(s) eq "host" ? (executor eq "host" ? "LAPACKE" : "CPU + copies") : last(s) eq "ger" ? "ger (ceiling)" : last(s) eq "cusolver" ? "cuSOLVER" : last(s)
eval place(0.15, 0.74, 0.13, 0.98, "").nokey.xlabel("m").ylabel("Gflop/s")
unset title
set logscale xy
set format y "%g"
plot for [i=1:words(predicted)] file(p(i)) using "m":"low":"high" with filledcurves \
	lt line_of(p(i)) fs transparent solid 0.18 noborder notitle, \
	for [i=1:words(predicted)] file(p(i)) using "m":"gflops" with lines lt line_of(p(i)) dt 2 notitle, \
	for [i=1:words(measured)] file(m(i)) using "m":"low":(0):(column("high")-column("low")) with vectors nohead \
	lt line_of(m(i)) notitle, \
	for [i=1:words(measured)] file(m(i)) using (column("m")):(column("gflops")):(sprintf("%s, m = %.0f: %.3g Gflop/s", last(m(i)), column("m"), column("gflops"))) \
	with labels hypertext point lt line_of(m(i)) ps 1, \
	for [i=1:words(estimates)] file(e(i)) using "m":"gflops" with lines lt 7 dt dash(e(i)) notitle, \
	words(measured) > 0 ? named(measured, "m", "gflops", "1", "log") : "/dev/null" using 1:2:3:4 @at_end
