# SPDX-License-Identifier: MIT
# Speeds of the second machine over the first, one operation below the other. side_by_side.awk wrote work/NAME/rows.tsv.
rows = name."/rows"
count = int(system("grep -c . ".rows.".tsv")) - 1
width = 520
height = 74 + 25 * count
load scripts."/style.gp"
colour(verdict) = verdict eq "faster" ? 3 : verdict eq "slower" ? 2 : 7
set lmargin at screen 0.47
set rmargin at screen 0.88
set tmargin at screen 1 - 8. / height
set bmargin at screen 54. / height
unset key
set yrange [0.4:count + 0.6]
set border 1
set ytics () scale 0
set xlabel "speed of ".second." over ".first noenhanced offset 0,0.4
set arrow from 1, graph 0 to 1, graph 1 nohead lt 7 dt 2
plot file(rows) using "speed":"place":"low":"high":(colour(stringcolumn("verdict"))) with xerrorbars pt 7 ps 0.9 lc variable, \
	"" using (column("speed")):(column("place")):(stringcolumn("label").": ".stringcolumn("text")." times") with labels hypertext point lt 7 pt 7 ps 0.2, \
	"" using (column("high")):(column("place")):(stringcolumn("text")) with labels left offset 0.9,0 noenhanced, \
	"" using (NaN):(column("place")):ytic(stringcolumn("label")) with points
