# SPDX-License-Identifier: MIT
# Curves of two machines in one figure: panels below each other, each a series of work/first and work/second, named at the end by the
# machines. plots.sh sets panels: a panel is FILE:X:Y:AXIS:TITLE. Y: ns, GB (of bytes in the time), Tflop or Gflop. AXIS: bytes or the
# name of a number of rows. "_" stands for a blank.
count = words(panels)
width = 520
height = 30 + 265 * count
load scripts."/style.gp"
cut(text, n) = n == 1 ? text[1:strstrt(text, ":")-1] : cut(text[strstrt(text, ":")+1:], n-1)
line_of(s) = s[1:5] eq "first" ? 1 : 2
text_of(s) = line_of(s) == 1 ? first : second
shown(kind) = kind eq "ns" ? ns("seconds") : kind eq "GB" ? GB("seconds") : column("gflops") * (kind eq "Tflop" ? 1e-3 : 1)
unit(kind) = kind eq "ns" ? "nanoseconds" : kind eq "GB" ? "GB/s" : kind."/s"
column_of(kind) = kind eq "ns" ? "seconds" : kind eq "GB" ? "rate" : "gflops"
per(kind) = kind eq "ns" ? "1e-9" : kind eq "GB" ? "1e9" : kind eq "Tflop" ? "1e3" : "1"
short(kind) = kind eq "ns" ? "ns" : unit(kind)
at(x, axis) = axis eq "bytes" ? size_label(x) : sprintf("%s = %.0f", axis, x)
set multiplot
unset key
set logscale xy
set format y "%g"
do for [i=1:count] {
	p = word(panels, i).":"
	f = cut(p, 1); across = cut(p, 2); kind = cut(p, 3); axis = cut(p, 4)
	list = present("first/".f." second/".f)
	bottom = 1 - (i - 0.2) / count + 0.02
	eval place(0.17, 0.76, bottom, bottom + 0.62 / count, spaced(cut(p, 5))).nokey.ylabel(unit(kind)).xlabel(axis eq "bytes" ? "bytes" : axis)
	if (axis eq "bytes") {
		set logscale x 2
		set xrange [256:*]
		set xtics rotate by 0 ('1 KiB' 2**10, '64 KiB' 2**16, '4 MiB' 2**22, '256 MiB' 2**28, '16 GiB' 2**34)
	} else {
		set logscale x 10
		set xrange [*:*]
		set xtics auto
	}
	if (words(list) == 0) { continue }
	plot for [s in list] file(s) using (column(across)):(shown(kind)) with lines lt line_of(s), \
		for [s in list] file(s) using (column(across)):(shown(kind)):(sprintf("%s, %s: %.3g %s", text_of(s), at(column(across), axis), shown(kind), short(kind))) \
		with labels hypertext point lt line_of(s) ps 0.4, \
		named(list, across, column_of(kind), per(kind), "log") using 1:2:3:4 @at_end
}
unset multiplot
