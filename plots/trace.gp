# SPDX-License-Identifier: MIT
# Timelines of a factorization, simulated above measured: the whole run, and a few steps from its middle, each
# half from its own begin of the first of them. trace.awk wrote work/NAME/PHASE.tsv (part, begin, end, y), lanes.txt and facts.gp; phases is their list.
height = 760
load scripts."/style.gp"
load work."/".name."/facts.gp"
line_of(p) = p eq "update" ? 1 : p eq "panel" ? 2 : p eq "solve" ? 3 : p eq "swap" ? 4 : p eq "transfer" ? 5 : \
	p eq "layout" ? 6 : p eq "queueing" ? 7 : 8
box(p) = file(name."/".p)
lanes = system("awk -F '\t' '{ printf \"%s\\\"%s\\\" %s\", (NR > 1 ? \", \" : \"\"), $2, $1 }' '".work."/".name."/lanes.txt'")
eval "set ytics (".lanes.")"
set yrange [rows - 0.7:1.3]
set style fill solid noborder
set multiplot
left = 0.15; right = 0.97
half = 0.4
do for [part=1:2] {
	bottom = part == 1 ? 0.60 : 0.14; top = bottom + 0.34
	@panel
	if (part == 1) { unset key } else { set key maxrows 1 }
	set title part == 1 ? title." - ".machine : sprintf("from the begin of block %d on", first)
	set xlabel part == 1 ? "time [ms]" : "time since that begin [ms]" offset 0,0.4
	set label 1 "simulated" at graph 0.005, first 0.85
	set label 2 "measured" at graph 0.005, first middle
	plot for [p in phases] box(p) using (column("part") == part ? column("begin") : NaN):"y":"begin":"end": \
		(column("y") - half):(column("y") + half) with boxxyerror lc rgb colour(line_of(p)) notitle, \
		for [p in phases] keyentry with boxes lc rgb colour(line_of(p)) title p
}
unset multiplot
