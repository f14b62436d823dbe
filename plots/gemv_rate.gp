# SPDX-License-Identifier: MIT
# Title: The library's matrix-vector products
# Question: How long do the library's gemv and ger take against shape, with the matrix in L2 or not?
# Figure: Bytes of the matrix read (ger: read and written) per second, square matrices in single precision above and in double precision below. Warm: successive calls on one matrix. Cold: each call reads another matrix of a pool far larger than L2. Dashed: the rate of plain DRAM reads.
# Parameters: gpu.gemv. gpu.ger.
height = 900
load scripts."/style.gp"
name_of(s) = strstrt(s, "gemv_n") ? "A x" : strstrt(s, "gemv_t") ? "A^T x" : "A + x y^T"
words_moved(s) = strstrt(s, "/ger_") ? 2 : 1
rate(k, bytes, state) = column("m") == column("n") && column("cold") == state ? \
	words_moved(k) * bytes * column("m") * column("n") / column("seconds") * 1e-12 : NaN
set multiplot
left = 0.13; right = 0.97
do for [p=1:2] {
	s = p == 1 ? "s" : "d"
	bytes = 4 * p
	eval place(left, right, p == 1 ? 0.67 : 0.18, p == 1 ? 0.95 : 0.46, p == 1 ? "Single precision - ".machine : "Double precision")
	eval logscale("x 2").xlabel("n").ylabel("TB/s").yrange("0:*")
	here = present("gemv_rate/gemv_n_".s." gemv_rate/gemv_t_".s." gemv_rate/ger_".s)
	if (words(here) > 0) {
		plot for [f in here] file(f) using "n":(rate(f, bytes, 0)) smooth unique with linespoints \
			title name_of(f).", warm", \
			for [i=1:words(here)] file(word(here, i)) using "n":(rate(word(here, i), bytes, 1)) smooth unique \
			with linespoints lt i dt 3 title name_of(word(here, i)).", cold", \
			exists("gpu_dram_read") ? gpu_dram_read*1e-12 : NaN with lines lt 7 dt 2 title "DRAM reads"
	}
}
unset multiplot
