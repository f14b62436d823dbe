# SPDX-License-Identifier: MIT
# Values of the profile one below the other, each with its interval; of two machines in pairs. ladder.awk wrote work/NAME/rows.tsv.
rows = name."/rows"
machines = exists("second") ? 2 : 1
chapter = name[1:5] eq "both_" ? name[6:] : name
labels = name."/labels"
count = int(system("grep -c . ".labels.".tsv")) - 1
width = 520
step = machines == 2 ? 38 : 25
top = machines == 2 ? 30. : 8.
height = 66 + top + step * count
load scripts."/style.gp"
set lmargin at screen 0.47
set rmargin at screen 0.83
set tmargin at screen 1 - top / height
set bmargin at screen 54. / height
unset key
set logscale x
set format x "%g"
set yrange [0.4:count + 0.6]
set border 1
set ytics () scale 0
set xlabel chapter eq "start" ? "microseconds" : chapter eq "instructions" ? "Tflop/s of the device" : "nanoseconds" offset 0,0.4
if (machines == 2) {
	set label first at screen 0.02, screen 1 - 15. / height textcolor lt 1 noenhanced
	set label second at screen 0.47, screen 1 - 15. / height textcolor lt 2 noenhanced
}
plot for [l=1:machines] file(rows) using (where("line", l)*column("value")):"place":"low":"high" with xerrorbars lt l pt 7 ps 0.9, \
	for [l=1:machines] "" using (where("line", l)*column("value")):(column("place")):(stringcolumn("label")." ".stringcolumn("text")) with labels hypertext point lt l pt 7 ps 0.9, \
	"" using (column("high")):(column("place")):(stringcolumn("text")) with labels left offset 0.9,0 noenhanced, \
	file(labels) using (NaN):(column("place")):ytic(stringcolumn("label")) with points
