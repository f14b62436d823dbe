# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figures 10 and 11: where the time of an LU goes, as simulated (areas) and as measured (points at
# their upper edges), and how many times slower the factorizations are when one optimization is left out, as measured.
# breakdown.awk wrote work/NAME/lu_VARIANT.tsv (n, upper edges of the share of each part; hidden: panels and transfers beside other
# work), measured_VARIANT.tsv, and without-OPERATION-VARIANT-WHAT.tsv (n, ratio).
variants = system("cd '".work."/".name."' && for v in lawn hybrid gpu; do [ -f lu_$v.tsv ] && printf '%s ' $v; done")
slots = words(variants) + 1
height = 447 * slots
load scripts."/style.gp"
edges = "zero update solve swap panel transfer rest"
says(p) = p eq "update" ? "products" : p eq "solve" ? "solves" : p eq "swap" ? "pivoting" : p eq "panel" ? "panels" : \
	p eq "transfer" ? "transfers" : "waiting"
side(v) = v eq "gpu" ? "GPU" : "CPU"
whose(v) = v eq "lawn" ? "LAWN 202's own LU" : "LU, panels on the ".side(v)
left_out(w) = w eq "rows" ? "row-major" : w
# A mark for each optimization, the CPU's panels dashed.
mark_of(w) = w eq "lookahead" ? 7 : w eq "widths" ? 5 : w eq "rows" ? 9 : 13
dash_of(v) = v eq "gpu" ? 1 : 2
word_of(s, i) = system("echo ".s." | sed 's,.*/without-,,' | cut -d- -f".i)
set multiplot
left = 0.13; right = 0.97
set logscale x 2
set xrange [32:16384]
set xtics (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
set ylabel "share of the time"
set key maxrows 2
do for [i=1:words(variants)] {
	v = word(variants, i)
	bottom = 1.0 - (i - 0.315) / slots; top = bottom + 0.555 / slots
	@panel
	measured = words(present(name."/measured_".v))
	set title whose(v).", single: simulated".(measured ? "; points: measured" : "").\
		(i == 1 ? " - ".machine : "")
	set yrange [0:1]
	f = file(name."/lu_".v)
	plot for [j=2:7] f using "n":(column(word(edges, j - 1))):(column(word(edges, j))) with filledcurves lt j-1 fs solid 0.5 \
		title says(word(edges, j)), f using "n":"hidden" with lines lt 8 dt 2 lw 2.2 title "hidden", \
		for [j=2:(measured ? 6 : 1)] file(name."/measured_".v) using "n":(column(word(edges, j))) with points lt j-1 ps 0.8 notitle
}
eval place(left, right, 0.42 / slots, 0.855 / slots, "Slowdown without one optimization, measured, single precision").ylabel("ratio").xlabel("n")
eval yrange("0.95:*")
set ytics (1, 1.2, 1.5, 2, 3, 5, 10)
set key maxrows 6 width -2
set logscale y
without = system("cd '".work."' && ls ".name."/without-*.tsv 2>/dev/null | sed 's,[.]tsv$,,'")
if (words(without) > 0) plot for [f in without] file(f) using "n":"ratio" smooth unique with linespoints \
	lt colour_of(word_of(f, 1)) dt dash_of(word_of(f, 2)) pt mark_of(word_of(f, 3)) \
	title title_of(word_of(f, 1))." ".side(word_of(f, 2)).", ".left_out(word_of(f, 3)), 1 with lines lt 7 dt 3 notitle
unset multiplot
