# SPDX-License-Identifier: MIT
# Values of the profile one below the other, each with its interval. ladder.awk wrote work/NAME/rows.tsv.
rows = name."/rows"
count = int(system("grep -c . ".rows.".tsv")) - 1
width = 520
height = 74 + 25 * count
load scripts."/style.gp"
set lmargin at screen 0.47
set rmargin at screen 0.83
set tmargin at screen 1 - 8. / height
set bmargin at screen 54. / height
unset key
set logscale x
set format x "%g"
set yrange [0.4:count + 0.6]
set border 1
set ytics () scale 0
set xlabel name eq "start" ? "microseconds" : name eq "instructions" ? "Tflop/s of the device" : "nanoseconds" offset 0,0.4
plot file(rows) using "value":"place":"low":"high" with xerrorbars lt 1 pt 7 ps 0.9, \
	"" using (column("value")):(column("place")):(stringcolumn("label")." ".stringcolumn("text")) with labels hypertext point lt 1 pt 7 ps 0.9, \
	"" using (column("high")):(column("place")):(stringcolumn("text")) with labels left offset 0.9,0 noenhanced, \
	"" using (NaN):(column("place")):ytic(stringcolumn("label")) with points
