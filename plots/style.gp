# SPDX-License-Identifier: MIT
# Shared by every figure; plots.sh sets work (folder of the series), out, name and machine before.
# Colours differ with colour blindness, and have a contrast of 3:1 on white and on near-black. Measured: points
# joined by solid lines. Model or fit: dashed.
set encoding utf8
set datafile separator tab
set datafile missing NaN
set datafile columnheaders
height = exists("height") ? height : 460
width = exists("width") ? width : 680
set terminal svg size width,height dynamic name name background rgb "white" font "sans-serif,14"
set output out

set linetype 1 lc rgb "#2f74c0" lw 1.8 pt 7 ps 0.5
set linetype 2 lc rgb "#d55e00" lw 1.8 pt 5 ps 0.5
set linetype 3 lc rgb "#00946b" lw 1.8 pt 9 ps 0.6
set linetype 4 lc rgb "#b8609e" lw 1.8 pt 13 ps 0.7
set linetype 5 lc rgb "#a87b00" lw 1.8 pt 11 ps 0.6
set linetype 6 lc rgb "#3a93b8" lw 1.8 pt 6 ps 0.6
set linetype 7 lc rgb "#808080" lw 1.8 pt 4 ps 0.6
set linetype 8 lc rgb "#8a63d2" lw 1.8 pt 12 ps 0.7
set linetype cycle 8
set grid lc rgb "#909090" lw 0.4 dt 3
set key outside bottom center horizontal Left reverse noenhanced samplen 2
set title noenhanced
set border 3
set tics nomirror
set bars 0.4
set ylabel offset 1.1,0

# Behind each plot (plots.sh): its panel and axes, for frames.awk. With the end that bytes_axis asks for, gnuplot draws to the data.
frames = 0
frame = "if (exists('GPVAL_TERM_XMAX')) { frames = frames + 1 }; save set sprintf('frame%d.set', frames); set print 'frames' append; ".\
	"print frames, GPVAL_TERM_XMIN, GPVAL_TERM_XMAX, GPVAL_TERM_YMIN, GPVAL_TERM_YMAX, height, GPVAL_X_MIN, GPVAL_X_MAX == 1.15e9 ? GPVAL_DATA_X_MAX : GPVAL_X_MAX, ".\
	"GPVAL_Y_MIN, GPVAL_Y_MAX; set print"

# A series is "probe/series": its file; the measured ones of a list, with a common prefix, or of a pattern, sorted by a part of
# their names between underscores; such a part; the last one; its name for the key.
file(s) = work."/".s.".tsv"
present(list) = system("cd '".work."' && for s in ".list."; do [ -f $s.tsv ] && printf '%s ' $s; done")
all_of(pattern, key) = system("cd '".work."' && ls ".name."/".pattern.".tsv 2>/dev/null | sed 's,.tsv$,,' | sort -t _ -k ".key." -n")
prefixed(kind, list) = present(system("printf '".name."/".kind."%s ' ".list))
base(s) = strstrt(s, "/") ? base(s[strstrt(s, "/")+1:]) : s
nth(s, i) = strstrt(s, "_") == 0 ? s : i == 1 ? s[1:strstrt(s, "_")-1] : nth(s[strstrt(s, "_")+1:], i-1)
part(s, i) = nth(base(s), i)
last(s) = strstrt(s, "_") ? last(s[strstrt(s, "_")+1:]) : s
spaced(s) = strstrt(s, "_") ? s[1:strstrt(s, "_")-1]." ".spaced(s[strstrt(s, "_")+1:]) : s
label(s) = spaced(base(s))
# The different values of a column, ascending; none of an absent series.
values(s, col) = system("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"".col."\") c = i } ".\
	"NR > 1 && c { print $c }' '".file(s)."' 2>/dev/null | sort -nu")
# Where one argument has this value.
where(col, value) = column(col) == value ? 1 : NaN
# GB/s of a point by one of its times.
GB(time) = column("bytes") / column(time) / 1e9

# Names of curves at the right edge (labels.awk): named(list, columns of x and y, unit of y, lin or log) using 1:2:3:4 @at_end, with
# text_of(curve) and line_of(curve). The y of a curve of times may be rate: bytes over time.
name_gap = 0.075 # between two names, as a part of the axis
named(list, x, y, unit, axis) = sprintf("< awk -v part=%g", name_gap)." -v x=".x." -v y=".y." -v per=".unit." -v axis=".axis." -v names='".texts(list)."' -v lines='".drawn_as(list).\
	"' -f scripts/common.awk -f scripts/labels.awk ".tsv(list)
tsv(list) = words(list) == 0 ? "" : word(list, 1).".tsv ".tsv(rest(list))
# The names (text_of) or lines (line_of) of a list of curves, between bars.
texts(list) = words(list) == 0 ? "" : text_of(word(list, 1))."|".texts(rest(list))
drawn_as(list) = words(list) == 0 ? "" : sprintf("%d|", line_of(word(list, 1))).drawn_as(rest(list))
rest(list) = words(list) < 2 ? "" : list[strstrt(list, word(list, 1))+strlen(word(list, 1)):]
at_end = 'with labels left offset 0.9,0 noenhanced textcolor variable'

# Sizes in binary units.
size_label(b) = b >= 2**30 ? sprintf("%.3g GiB", b/2.**30) : b >= 2**20 ? sprintf("%.3g MiB", b/2.**20) : \
	b >= 2**10 ? sprintf("%.3g KiB", b/2.**10) : sprintf("%.0f B", b)

title_of(operation) = operation eq "getrf" ? "LU" : operation eq "geqrf" ? "QR" : "Cholesky"
colour_of(operation) = operation eq "getrf" ? 1 : operation eq "geqrf" ? 2 : 3
known(name) = exists(name) ? value(name) : NaN
# LAPACK Working Note 41
flops_getrf(m, n) = m*n**2 - n**3/3. - n**2/2. + 5*n/6.
flops_geqrf(m, n) = 2*m*n**2 - 2*n**3/3. + m*n + n**2 + 14*n/3.

# Binary sizes on a logarithmic axis.
bytes_axis = "set logscale x 2; set xrange [*:1.15e9<*]; set xtics rotate by 0 ('1 B' 1, '32 B' 32, '1 KiB' 2**10, '32 KiB' 2**15, ".\
	"'1 MiB' 2**20, '32 MiB' 2**25, '1 GiB' 2**30)"

# Fitted parameters of the profile, dots as underscores.
if (system("[ -f '".work."/profile.gp' ] && echo 1") eq "1") load work."/profile.gp"

# Times of a point; with its interval, for error bars.
ns(c) = column(c) * 1e9
us(c) = column(c) * 1e6
ms(c) = column(c) * 1e3
in_ns = '(ns("seconds")):(ns("low")):(ns("high"))'
in_us = '(us("seconds")):(us("low")):(us("high"))'
in_ms = '(ms("seconds")):(ms("low")):(ms("high"))'
in_GB = '(GB("seconds")):(GB("high")):(GB("low"))'

# A panel of a multiplot: its edges in fractions of the figure; the key stands below it.
# eval place(...).xlabel(...).yrange(...): what the functions return is set; xlabel stands nearer than xname.
panel = "set lmargin at screen left; set rmargin at screen right; set bmargin at screen bottom; ".\
	"set tmargin at screen top; set key at screen (left+right)/2., screen bottom-52./height center top; "
place(l, r, b, t, text) = (left = l, right = r, bottom = b, top = t, title_text = text, panel."set title title_text offset 0,-0.7; ")
xlabel(text) = (x_text = text, "set xlabel x_text offset 0,0.4; ")
ylabel(text) = (y_text = text, "set ylabel y_text; ")
xname(text) = (x_text = text, "set xlabel x_text; ")
xrange(text) = "set xrange [".text."]; "
yrange(text) = "set yrange [".text."]; "
xtics(text) = "set xtics ".text."; "
logscale(text) = "set logscale ".text."; "
nokey = "unset key; "
# The next of `panels` equal ones, from above.
stacked = 0
next(text) = (stacked = stacked + 1, place(0.13, 0.97, 1.0 - (stacked-0.37)/panels, 1.0 - (stacked-0.88)/panels, text))
# Measured series and their predictions: eval curves(list, columns of x, measured and predicted, unit of y); key_of names a series.
curves(l, x, y, p, unit) = (list = l, x_column = x, y_column = y, p_column = p, per = unit, "")
both = 'for [j=1:words(list)] file(word(list, j)) using (column(x_column)):(column(y_column)/per) with linespoints lt j '.\
	'title key_of(word(list, j)), for [j=1:words(list)] file(word(list, j)) using (column(x_column)):(column(p_column)/per) '.\
	'with lines lt j dt 2 notitle'
dashed = 'NaN with lines lt 7 dt 2 title "predicted"'
