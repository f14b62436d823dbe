# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figures 7 and 8: rates of LU, QR and Cholesky of square matrices against n beside the
# library's product, the vendor and the bound. factor.awk wrote work/NAME/OPERATION_VARIANT.tsv (n, gflops).
width = 520
height = 900
load scripts."/style.gp"
operations = "getrf geqrf potrf"
line_of(s) = last(s) eq "gpu" ? 2 : last(s) eq "hybrid" ? 1 : last(s) eq "cusolver" ? 7 : last(s) eq "3xtf32" ? 4 : last(s) eq "3xfp16" ? 6 : last(s) eq "openblas" ? 5 : 8
text_of(s) = last(s) eq "gpu" ? "panels on GPU" : last(s) eq "hybrid" ? "panels on CPU" : last(s) eq "cusolver" ? "cuSOLVER" : \
	last(s) eq "openblas" ? "OpenBLAS" : last(s) eq "3xtf32" ? "3xTF32" : last(s) eq "3xfp16" ? "3xFP16" : "product"
# Curves of a list whose last part no curve of another list has.
without(list, other) = words(list) == 0 ? "" : (strstrt(other." ", "_".last(word(list, 1))." ") ? "" : word(list, 1)." ").without(rest(list), other)
beside = "gpu hybrid cusolver openblas 3xtf32 3xfp16"
set multiplot
unset key
set logscale xy
set format y "%g"
set xrange [200:40000]
set xtics (256, 1024, 4096, 16384)
do for [i=1:3] {
	o = word(operations, i)
	bottom = 1 - (i - 0.17) / 3.
	eval place(0.14, 0.74, bottom, bottom + 0.245, title_of(o).", n x n, ".precision." precision").nokey.ylabel("Tflop/s").xlabel(i == 3 ? "n" : "")
	measured = prefixed(o."_", beside)." ".present(name."/gemm")
	predicted = prefixed(o."_predicted_", beside)
	checked = prefixed(o."_checked_", beside)
	bound = present(name."/".o."_bound ".name."/".o."_blas3")
	recorded = present(name."/".o."_blas3run")
	if (words(measured) + words(checked) == 0) { continue }
	shown = measured." ".without(checked, measured)
	plot for [f in bound] file(f) using "n":(column("gflops")*1e-3) with lines lt (f[strlen(f)-4:] eq "bound" ? 8 : 3) dt 3, \
		for [f in recorded] file(f) using "n":(column("gflops")*1e-3) with points lt 3 pt 2 ps 0.6, \
		for [f in measured] file(f) using "n":(column("gflops")*1e-3) with lines lt line_of(f), \
		for [f in measured] file(f) using (column("n")):(column("gflops")*1e-3):(sprintf("%s, n = %.0f: %.3g Tflop/s", last(f), column("n"), column("gflops")*1e-3)) \
		with labels hypertext point lt line_of(f) ps 0.4, \
		for [f in predicted] file(f) using "n":(column("gflops")*1e-3) with lines lt line_of(f) dt 2, \
		for [f in checked] file(f) using "n":(column("gflops")*1e-3) with points lt line_of(f) pt 1 ps 0.6, \
		named(shown, "n", "gflops", "1e3", "log") using 1:2:3:4 @at_end
}
unset multiplot
