# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figures 7 and 8: rates of LU, QR and Cholesky of square matrices against n beside the
# library's product and the bound, and how many times faster than the host's LAPACK they are. factor.awk wrote
# work/NAME/OPERATION_VARIANT.tsv (n, gflops).
slots = system("ls '".work."/".name."' | grep -c '_openblas[.]tsv$'") > 0 ? 4 : 3 # without the host's LAPACK three
height = 500 * slots
load scripts."/style.gp"
operations = "getrf geqrf potrf"
variants = "gpu hybrid cusolver openblas 3xtf32 3xfp16"
key_of(v) = v eq "gpu" ? "panels on GPU" : v eq "hybrid" ? "panels on CPU" : v eq "cusolver" ? "cuSOLVER" : v eq "3xtf32" ? "3xTF32" : v eq "3xfp16" ? "3xFP16" : "OpenBLAS"
line_of(v) = v eq "gpu" ? 2 : v eq "hybrid" ? 1 : v eq "cusolver" ? 7 : v eq "3xtf32" ? 4 : v eq "3xfp16" ? 6 : 5
list(o, kind) = prefixed(o."_".kind, variants)
# The rate of a series at one n, NaN when it has none there.
rate(s, n) = real(system(sprintf("cat '%s' 2>/dev/null | awk -v n=%d '$1 == n { r = $2 } END { print r ? r : \"NaN\" }'", file(s), n)))
set multiplot
left = 0.13; right = 0.97
set key maxrows 5 width -2
set logscale xy
set format y "%g"
set xrange [200:40000]
set xtics (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
do for [i=1:3] {
	o = word(operations, i)
	bottom = 1 - (i - 0.38) / slots
	eval place(left, right, bottom, bottom + 0.53 / slots, title_of(o).", n x n, ".precision." precision".(i == 1 ? " - ".machine : "")).ylabel("Tflop/s")
	measured = list(o, "")
	predicted = list(o, "predicted_")
	checked = list(o, "checked_")
	blas3 = present(name."/".o."_blas3")
	bound = present(name."/".o."_bound")
	gemm = present(name."/gemm")
	only_checked = "" # variants that were measured at the held-out sizes alone
	do for [v in variants] {
		if (words(present(name."/".o."_checked_".v)) > 0 && words(present(name."/".o."_".v)) == 0) {
			only_checked = only_checked." ".v
		}
	}
	if (words(measured) + words(checked) == 0) { continue }
	plot for [f in measured] file(f) using "n":(column("gflops")*1e-3) with linespoints lt line_of(last(f)) title key_of(last(f)), \
		for [f in predicted] file(f) using "n":(column("gflops")*1e-3) with lines lt line_of(last(f)) dt 2 notitle, \
		for [f in checked] file(f) using "n":(column("gflops")*1e-3) with points lt line_of(last(f)) pt 1 ps 1 notitle, \
		for [f in blas3] file(f) using "n":(column("gflops")*1e-3) with lines lt 3 dt 4 title "BLAS3, simulated", \
		for [v in only_checked] NaN with linespoints lt line_of(v) dt 2 pt 1 title key_of(v), \
		for [f in gemm] file(f) using "n":(column("gflops")*1e-3) with lines lt 8 \
		title "cuBLAS ".(precision eq "single" ? "s" : "d")."gemm", \
		for [f in bound] file(f) using "n":(column("gflops")*1e-3) with lines lt 8 dt 3 \
		title precision eq "single" ? "bound, fp32" : "bound", NaN with lines lt 7 dt 2 title "predicted, +: measured"
}
with_host = present(system("printf '".name."/%s_openblas ' ".operations))
faster(o, n) = (a = rate(name."/".o."_gpu", n), b = rate(name."/".o."_hybrid", n), c = rate(name."/".o."_openblas", n), \
	(a == a && (b != b || a > b) ? a : b) / c)
if (words(with_host) > 0) {
	bottom = 1 - (4 - 0.38) / slots
	eval place(left, right, bottom, bottom + 0.53 / slots, "Speedup over OpenBLAS on the host, our faster variant").ylabel("ratio").xlabel("n")
	plot for [f in with_host] file(f) using "n":(faster(part(f, 1), column("n"))) with linespoints title title_of(part(f, 1)), \
		1 with lines lt 7 dt 3 notitle
}
unset multiplot
