# SPDX-License-Identifier: MIT
# Speedup over cuSOLVER against n, and time per column of a panel against m. vendor.awk wrote
# work/NAME/PRECISION_OPERATION_MATH.tsv (n, ratio) and OPERATION_{ours,cusolver}_WIDTH.tsv (m, us_per_column).
slots = system("ls '".work."/".name."' | grep -c '^ge[tq]rf_[a-z]*_[0-9]'") > 0 ? 3 : 2 # without panels two
height = 393 * slots
load scripts."/style.gp"
series(p) = system("cd '".work."/".name."' && ls | sed -n 's,^\\(".p."\\)[.]tsv$,".name."/\\1,p'")
is_fp32(m) = m eq "fp32" || m eq "fp64"
dash(m) = is_fp32(m) ? 1 : m eq "3xfp16" ? 4 : 2
key_of(s) = title_of(part(s, 2)).(is_fp32(part(s, 3)) ? "" : ", ".part(s, 3))
set multiplot
left = 0.13; right = 0.97
set key maxrows 3 width -2
set logscale x
set xtics (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
set xrange [200:40000]
set yrange [0:*]
do for [i=1:2] {
	list = series(word("s_.* d_.*", i))
	if (words(list) == 0) { continue }
	bottom = 1 - (i - 0.29) / slots
	eval place(left, right, bottom, bottom + 0.59 / slots, "Speedup over cuSOLVER, n x n, ".(i == 1 ? "single precision - ".machine : "double precision")).ylabel("ratio").xlabel("n")
	plot for [f in list] file(f) using "n":"ratio" with linespoints lt colour_of(part(f, 2)) dt dash(part(f, 3)) title key_of(f), \
		1 with lines lt 7 dt 3 notitle
}
panels = series("ge[tq]rf_[a-z]*_[0-9]*")
if (words(panels) > 0) {
	bottom = 1 - (3 - 0.35) / slots; top = bottom + 0.55 / slots
	set key maxrows 4
	@panel
	set logscale y
	set xtics (1024, 4096, 16384, 65536, 262144, 1048576)
	set xrange [800:*]
	set yrange [*:*]
	set format y "%g"
	set title "Panels, m x n, single precision: time per column"
	set ylabel "microseconds"
	set xlabel "m" offset 0,0.4
	ours(s) = part(s, 2) eq "ours"
	width_dash(n) = n eq "32" ? 2 : n eq "64" ? 1 : 4
	plot for [f in panels] file(f) using "m":"us_per_column" with linespoints \
		lt (ours(f) ? colour_of(part(f, 1)) : 7) pt (part(f, 1) eq "getrf" ? 7 : 5) dt width_dash(part(f, 3)) \
		title title_of(part(f, 1)).", n = ".part(f, 3).(ours(f) ? "" : ", cuSOLVER")
}
unset multiplot
