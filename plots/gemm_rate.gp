# SPDX-License-Identifier: MIT
# Title: The library's matrix products
# Question: How long do the library's gemm, trsm and syrk take against shape?
# Figure: Rates of cuBLAS by the operation counts of LAPACK Working Note 41. Above, square products in single precision, tf32 and double precision; then rank-k updates of the largest square that was measured; below, triangular solves with a unit lower triangle and symmetric updates of that size.
# Parameters: gpu.gemm. gpu.gemm_tn. gpu.trsm. gpu.syrk.
height = 1300
load scripts."/style.gp"
name_of(s) = last(s) eq "s" ? "single" : last(s) eq "d" ? "double" : "tf32"
measured = present("gemm_rate/gemm_s gemm_rate/gemm_tf32 gemm_rate/gemm_d")
tflops(flops, t) = flops / t * 1e-12
# The largest square result of a series, by one of its arguments.
largest(s) = real(system("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) a[$i] = i; next } $a[\"n\"] == $a[\"m\"] && $a[\"n\"] > n { n = $a[\"n\"] } END { print n + 0 }' '".file(s)."'"))
widest(s, c) = real(system("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) a[$i] = i; next } $a[\"".c."\"] > n { n = $a[\"".c."\"] } END { print n + 0 }' '".file(s)."'"))
product(t) = tflops(2. * column("m") * column("n") * column("k"), t)
square(t) = column("m") == column("n") && column("m") == column("k") ? product(t) : NaN
update(t, n) = column("m") == n && column("n") == n ? product(t) : NaN
set multiplot
left = 0.13; right = 0.97
set logscale x 2
set ylabel "Tflop/s"
set yrange [0:*]
eval place(left, right, 0.745, 0.96, "Square products - ".machine).xlabel("n")
if (words(measured) > 0) plot for [f in measured] file(f) using "n":(square(column("seconds"))) smooth unique with linespoints \
	title name_of(f)
eval place(left, right, 0.42, 0.63, "Rank-k updates of the largest square").xlabel("k")
if (words(measured) > 0) plot for [f in measured] n = largest(f) file(f) \
	using "k":(update(column("seconds"), n)) smooth unique with linespoints title sprintf("%s, n = %d", name_of(f), largest(f))
eval place(left, right, 0.10, 0.31, "Triangular solves and symmetric updates").xlabel("order of the triangle, or k of the update")
others = present("gemm_rate/trsm_s gemm_rate/trsm_d gemm_rate/syrk_s gemm_rate/syrk_d")
solve(t) = tflops(column("m") ** 2 * column("n"), t)
syrk(t) = tflops(column("n") * (column("n") + 1.) * column("k"), t)
is_solve(s) = strstrt(s, "trsm") > 0
if (words(others) > 0) plot for [f in others] n = widest(f, "n") file(f) \
	using (is_solve(f) ? column("m") : column("k")):(column("n") == n ? (is_solve(f) ? solve(column("seconds")) : syrk(column("seconds"))) : NaN) smooth unique with linespoints title sprintf("%s, n = %d", label(f), widest(f, "n"))
unset multiplot
