# SPDX-License-Identifier: MIT
# Maps of the speedup of updating a QR factorization, measured beside predicted, and every choice. update.awk wrote
# work/NAME/MAP_{measured,predicted,even}.tsv, maps.gp and choice_CHANGE.tsv.
load work."/".name."/maps.gp"
maps = "places sizes columns rows gone lost"
drawn = 0
do for [m in maps] { drawn = drawn + value(m."_drawn") }
map_height = 250
choice_height = 500
height = map_height * drawn + choice_height
load scripts."/style.gp"
s(m, kind) = name."/".m."_".kind
changes = prefixed("choice_", "remove_columns add_columns add_rows remove_rows")
change_of(f) = system("echo '".f."' | sed 's,.*choice_,,; s,_, ,'")
line_of(f) = change_of(f) eq "remove columns" ? 1 : change_of(f) eq "add columns" ? 2 : change_of(f) eq "add rows" ? 3 : 4
set multiplot
set palette defined (-5 "#d55e00", 0 "#ffffff", 9 "#2f74c0")
set cbrange [-5:9]
unset colorbox
unset grid
set tics scale 0
i = 0
do for [m in maps] {
	if (value(m."_drawn")) {
		top = 1.0 - (i * map_height + 50.0) / height
		bottom = 1.0 - (i * map_height + 195.0) / height
		eval value(m."_axes")
		set xrange [0.5:value(m."_columns") + 0.5]
		set yrange [0.5:value(m."_rows") + 0.5]
		set xlabel value(m."_x") offset 0,0.5
		do for [kind in "measured predicted"] {
			set lmargin at screen (kind eq "measured" ? 0.105 : 0.59)
			set rmargin at screen (kind eq "measured" ? 0.52 : 0.97)
			set tmargin at screen top
			set bmargin at screen bottom
			set ylabel (kind eq "measured" ? value(m."_y") : "") offset 1.2,0
			if (kind eq "measured") {
				set label 1 value(m."_title") at screen 0.105, screen (top + 30.0 / height) left noenhanced
			} else {
				unset label 1
			}
			set label 2 kind at graph 0.5, graph 1.08 center textcolor rgb "#606060"
			unset title
			plot file(s(m, kind)) using 1:2:(0.48):(0.48):(log(column("value")) / log(2)) with boxxyerror fillstyle solid 0.85 noborder \
				lc palette notitle, file(s(m, "even")) using 1:2:3:4 with vectors nohead lw 3 lc rgb "#808080" notitle, \
				file(s(m, kind)) using 1:2:(stringcolumn("label")) with labels font ",13" textcolor rgb "#202020" notitle
		}
		i = i + 1
	}
}
unset label
set tics scale 1
set grid lc rgb "#909090" lw 0.4 dt 3
left = 0.13; right = 0.97
eval place(left, right, 110.0 / height, 1.0 - (i * map_height + 60.0) / height, "Every point: speedup over factorizing again with our routines")
eval logscale("xy 2").xrange("*:*").yrange("*:*").xtics("autofreq")
set ytics autofreq
set xlabel "predicted" offset 0,0.4
set ylabel "measured" offset 1.2,0
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#202020" lw 1.2
set arrow 2 from first 1, graph 0 to first 1, graph 1 nohead lc rgb "#202020" lw 1.2
plot for [f in changes] file(f) using "predicted":"measured" with points lt line_of(f) title change_of(f), x with lines lt 7 dt 3 notitle
unset multiplot
