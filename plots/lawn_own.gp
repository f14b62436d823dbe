# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figures 7 and 11 with its own plans: rates of LU, QR and Cholesky against n, and how many times slower
# LU is without one part. lawn_own.awk wrote work/NAME/{predicted,measured}_OPERATION{,_host}.tsv (n, gflops) and
# work/NAME/{predicted,measured}_without_NAME.tsv (n, ratio).
height = 940
load scripts."/style.gp"
part_name(w) = w eq "rows" ? "row-major layout" : w eq "levels" ? "two levels" : w eq "transfers" ? "overlapped transfers" : \
	w eq "batches" ? "batched swaps" : w eq "inverse" ? "inverses" : "look-ahead"
mark_of(w) = w eq "lookahead" ? 7 : w eq "inverse" ? 5 : w eq "rows" ? 9 : w eq "levels" ? 11 : w eq "batches" ? 13 : 3
line_of(w) = w eq "lookahead" ? 1 : w eq "inverse" ? 2 : w eq "rows" ? 3 : w eq "levels" ? 4 : w eq "batches" ? 5 : 6
slowdowns = system("awk '$2 + 0 > 0 { low = !low || $2 < low ? $2 : low; high = $2 > high ? $2 : high } ".\
	"END { if (high) printf \"%g:%g\", low / 1.05, high * 1.05 }' ".work."/".name."/*_without_*.tsv 2>/dev/null")
names = "inverse lookahead rows levels transfers batches"
operations = "getrf geqrf potrf"
set multiplot
left = 0.16; right = 0.97
set logscale x 2
set key maxrows 4
eval place(left, right, 0.595, 0.935, "LAWN 202's own, single precision, from host memory - ".machine).ylabel("Gflop/s").xlabel("n")
set xrange [32:16384]
set xtics (32, 128, 512, 2048, 8192)
set logscale y
predicted = present("lawn_own/predicted_getrf_host lawn_own/predicted_geqrf_host lawn_own/predicted_potrf_host")
measured = present("lawn_own/measured_getrf_host lawn_own/measured_geqrf_host lawn_own/measured_potrf_host")
plot for [f in predicted] file(f) using "n":"gflops" with lines lt colour_of(part(f, 2)) dt 2 title title_of(part(f, 2)).", predicted", \
	for [f in measured] file(f) using "n":"gflops" with linespoints lt colour_of(part(f, 2)) pt 7 title title_of(part(f, 2))
eval place(left, right, 0.155, 0.445, "LU without one part; dashed: predicted").ylabel("times as slow").xlabel("n")
set xrange [1024:16384]
set xtics (1024, 2048, 4096, 8192, 16384)
set ytics (0.5, 0.6, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10, 20)
eval yrange(slowdowns)
is_measured(w) = words(present("lawn_own/measured_without_".w)) > 0
plot for [w in names] for [f in present("lawn_own/predicted_without_".w)] file(f) using "n":"ratio" with linespoints lt line_of(w) \
	dt 2 pt mark_of(w) title is_measured(w) ? "" : part_name(w), \
	for [w in names] for [f in present("lawn_own/measured_without_".w)] file(f) using "n":"ratio" with linespoints lt line_of(w) \
	pt mark_of(w) title part_name(w), 1 with lines lt 7 dt 3 notitle
unset multiplot
