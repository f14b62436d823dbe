# SPDX-License-Identifier: MIT
# Title: Host rates
# Question: How fast do the host's LAPACK panels and gemm run, and how long do its shortest BLAS calls take?
# Figure: M x n panels and square gemm at powers of two (panels below 4 MiB: one thread; larger panels and gemm: all); rates by the operation counts of LAPACK Working Note 41. Solid: single, dashed: double precision.
# Parameters: host.get host.geq host.gemm. host.iamax. host.scal. host.swap. host.ger. host.blas. host.clock
height = 860
load scripts."/style.gp"
rate(routine, m, n, seconds) = (routine eq "getrf" ? flops_getrf(m, n) : flops_geqrf(m, n)) / seconds / 1e9
set multiplot
set logscale x 2
set yrange [0:*]
set ylabel "Gflop/s"
set xlabel "m" offset 0,0.4
do for [routine in "getrf geqrf"] {
	first = routine eq "getrf"
	left = 0.15
	right = first ? 0.97 : 0.5
	top = first ? 0.95 : 0.36
	eval place(left, right, first ? 0.55 : 0.08, top, first ? "Host panels, m x n: getrf - ".machine : "geqrf")
	if (!first) { unset key; set logscale x 4 }
	both = present("host_rate/".routine."_s host_rate/".routine."_d")
	widths = words(both) == 0 ? "" : values(word(both, 1), "n")
	if (words(both) > 0) {
		plot for [p=1:words(both)] for [t=1:words(widths)] file(word(both, p)) \
			using (column("m")*where("n", word(widths, t))):(rate(routine, column("m"), column("n"), column("seconds"))) with linespoints \
			lt t dt p title p == 1 ? "n = ".word(widths, t) : "", NaN with lines lt 7 dt 2 title "dashed: double"
	}
}
gemm = present("host_rate/gemm_s host_rate/gemm_d")
eval place(0.64, 0.97, bottom, top, "gemm, n x n").nokey.xname("n")
if (words(gemm) > 0) plot for [p=1:words(gemm)] file(word(gemm, p)) using "n":(2*column("n")**3/column("seconds")/1e9) with linespoints lt 1 dt p
unset multiplot
