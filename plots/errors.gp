# SPDX-License-Identifier: MIT
# Errors of predictions: how many are how small, and each against its time. error_curves.awk wrote work/NAME/SERIES.tsv.
width = 520
height = 620
load scripts."/style.gp"
regimes = prefixed("", "hardware library calibrated")
shares = prefixed("share_", "hardware library calibrated")
# Errors beyond the edge stand there as triangles.
edge = 40
beyond(c) = column(c) > edge ? 1 : column(c) < -edge ? -1 : 0
inside(c) = beyond(c) ? NaN : column(c)
at_edge(c) = beyond(c) ? edge * beyond(c) : column(c)
cases = 0
outside = 0
do for [f in regimes] {
	stats file(f) using (abs(beyond("error"))) nooutput
	cases = cases + STATS_records
	outside = outside + STATS_sum
}
set multiplot
unset key
eval place(0.13, 0.78, 0.61, 0.945, "Cases whose error is at most").nokey.xlabel("|predicted / measured - 1|, %").ylabel("% of cases").xrange("0:20").yrange("0:100")
set arrow 1 from first 10, graph 0 to first 10, graph 1 nohead lt 7 dt 3
do for [i=1:words(shares)] { set label i last(word(shares, i)) at graph 1.03, graph 1.1-0.13*i textcolor lt i }
plot for [i=1:words(shares)] file(word(shares, i)) using "error":"share" with lines lt i, \
	for [i=1:words(shares)] file(word(shares, i)) using (column("error")):(column("share")):(sprintf("%.0f %% of cases within %.2g %%", column("share"), column("error"))) \
	with labels hypertext point lt i ps 0.3
unset arrow 1
do for [i=1:3] { unset label i }
eval place(0.13, 0.78, 0.10, 0.44, "Each case: error against time").nokey.xlabel("measured milliseconds").ylabel("error, %").xrange("*:*").yrange(sprintf("%g:%g", -1.08*edge, 1.08*edge)).logscale("x")
set format x "%g"
if (outside) { set label 1 sprintf("Triangles:\n%d of %d\nlie beyond\n+-%g %%", outside, cases, edge) at graph 1.03, graph 0.97 }
plot for [i=1:words(regimes)] file(word(regimes, i)) using (ms("seconds")):(inside("error")-0.6):(0):(1.2) with vectors nohead lt i lw 2.5, \
	for [side in "1 -1"] for [i=1:words(regimes)] file(word(regimes, i)) using (ms("seconds")):(beyond("error") == int(side) ? edge*int(side) : NaN) \
	with points lt i pt (side eq "1" ? 9 : 11) ps 0.7, \
	present(name."/far") eq "" ? "/dev/null" : file(name."/far") using (ms("seconds")):(at_edge("error")):(stringcolumn("case")) with labels hypertext point lt 7 pt 6 ps 0.6, \
	0 with lines lt 7 dt 3
unset multiplot
