# SPDX-License-Identifier: MIT
# The counterparts of Figures 2 to 6 of Kerr, Campbell and Richards (2009), with the runs that the paper's Table 2 gives, and
# the choice of the blocks' width. kerr.awk wrote work/NAME/SERIES.tsv.
files(pattern) = int(system("cd '".work."' && ls ".name."/".pattern." 2>/dev/null | wc -l"))
panels = 2 + (files("gemv_*.tsv") > 0) + (files("host_*.tsv") > 0) + (files("apply_*.tsv") > 0) + (files("width_*.tsv") > 0)
height = 383 * panels
load scripts."/style.gp"
s(x) = name."/".x
some(list) = present(list)
runs = some(s("run_ahead")." ".s("run_blas"))
hosts = system("cd '".work."' && ls ".name."/host_*.tsv 2>/dev/null | sed 's,.tsv$,,' | sort -t _ -k 2 -n")
lapack = system("cd '".work."' && ls ".name."/run_lapack_*.tsv 2>/dev/null | sed 's,.tsv$,,' | sort -t _ -k 3 -n")
papers = some(s("paper_9800gx2")." ".s("paper_gtx280"))
last(x) = system("echo '".x."' | sed 's,.*_,,'")
key_of(x) = x eq s("run_ahead") ? "ours" : "BLAS calls (Algorithm 3)"
gpu_of(x) = last(x) eq "gtx280" ? "GTX 280 (paper)" : "9800 GX2 (paper)"
gemvs = some(s("gemv_cublas")." ".s("gemv_kerr")." ".s("gemv_tuned"))
gemv_key(x) = last(x) eq "cublas" ? "cuBLAS" : last(x) eq "kerr" ? "the paper's kernel" : "tuned"
applied = some(s("apply_blas_a")." ".s("apply_blas_q")." ".s("apply_steps_a")." ".s("apply_steps_q"))
apply_key(x) = (x eq s("apply_blas_a") || x eq s("apply_blas_q") ? "BLAS calls, to " : "ours, to ").(last(x) eq "a" ? "A" : "Q")
widths = some(s("width_blas_1024")." ".s("width_blas_4096")." ".s("width_blas_8192")." ".s("width_ahead_1024")." ".\
	s("width_ahead_4096")." ".s("width_ahead_8192"))
width_key(x) = (strstrt(x, "width_blas") ? "BLAS calls, m = " : "ours, m = ").last(x)
set multiplot
left = 0.13; right = 0.97
set key maxrows 3
set logscale xy
set format y "10^{%L}"
sizes = "set xrange [400:20000]; set xtics (512, 1024, 2048, 4096, 8192, 16384); set xlabel 'm' offset 0,0.4"
i = 0
next = "i = i + 1; bottom = 1.0 - (i-0.37)/panels; top = 1.0 - (i-0.88)/panels"
@sizes

if (words(gemvs) > 0) {
	@next
	@panel
	set title "A x, A m x m (Figure 2) - ".machine
	set ylabel "Gflop/s"
	plot for [j=1:words(gemvs)] file(word(gemvs, j)) using "m":"gflops" with linespoints lt j title gemv_key(word(gemvs, j)), \
		for [j=1:words(gemvs)] file(word(gemvs, j)) using "m":"predicted" with lines lt j dt 2 notitle, \
		exists("gpu_dram_read") ? gpu_dram_read / 2e9 : NaN with lines lt 7 dt 2 title "DRAM reads", \
		69 with lines lt 5 dt 3 title "GTX 280, best (paper)"
}
@next
@panel
set title "Time of QR with the whole Q, m x m/2 (Figure 3) - ".machine
set ylabel "seconds"
plot for [j=1:words(runs)] file(word(runs, j)) using "m":"seconds" with linespoints lt j title key_of(word(runs, j)), \
	for [j=1:words(runs)] file(word(runs, j)) using "m":"predicted" with lines lt j dt 2 notitle, \
	for [j=1:words(lapack)] file(word(lapack, j)) using "m":"seconds" with linespoints lt 2+j \
	title "LAPACK, ".last(word(lapack, j)).(last(word(lapack, j)) eq "1" ? " thread" : " threads"), \
	for [j=1:words(papers)] file(word(papers, j)) using "m":"seconds" with points lt 6+j ps 1.2 title gpu_of(word(papers, j)), \
	NaN with lines lt 7 dt 2 title "predicted"
@next
@panel
set title "Rate against work (Figure 4)"
set ylabel "Gflop/s"
set xrange [*:*]
set xtics auto
set format x "%g"
set xlabel "Gflop (Table 1)" offset 0,0.4
plot for [j=1:words(runs)] file(word(runs, j)) using "gflop":"gflops" with linespoints lt j title key_of(word(runs, j)), \
	for [j=1:words(runs)] file(word(runs, j)) using "gflop":"gflops_predicted" with lines lt j dt 2 notitle, \
	for [j=1:words(papers)] file(word(papers, j)) using "gflop":"gflops" with points lt 6+j ps 1.2 title gpu_of(word(papers, j)), \
	NaN with lines lt 7 dt 2 title "predicted"
@sizes
if (words(hosts) > 0) {
	@next
	@panel
	set title "Speedup over LAPACK on the host (Figure 5)"
	set ylabel "ratio"
	plot for [j=1:words(hosts)] file(word(hosts, j)) using "m":"ratio" with linespoints lt 2+j \
		title last(word(hosts, j)).(last(word(hosts, j)) eq "1" ? " thread" : " threads")
}
if (words(applied) > 0) {
	@next
	@panel
	set title "A <- P^T A and Q <- Q P (Figure 6)"
	set ylabel "Gflop/s (Table 1)"
	plot for [j=1:words(applied)] file(word(applied, j)) using "m":"gflops" with linespoints lt j title apply_key(word(applied, j)), \
		for [j=1:words(applied)] file(word(applied, j)) using "m":"predicted" with lines lt j dt 2 notitle, \
		for [j=1:words(papers)] file(word(papers, j)) using "m":"apply_a" with points lt 6+j pt 6 ps 1.2 \
		title gpu_of(word(papers, j)).", to A", \
		for [j=1:words(papers)] file(word(papers, j)) using "m":"apply_q" with points lt 6+j pt 4 ps 1.2 \
		title gpu_of(word(papers, j)).", to Q"
}
if (words(widths) > 0) {
	@next
	@panel
	set title "The width r of the blocks"
	set ylabel "seconds"
	set xrange [14:300]
	set xtics (16, 32, 64, 128, 256)
	set xlabel "r" offset 0,0.4
	plot for [j=1:words(widths)] file(word(widths, j)) using "r":"seconds" with linespoints lt j title width_key(word(widths, j)), \
		for [j=1:words(widths)] file(word(widths, j)) using "r":"predicted" with lines lt j dt 2 notitle
}
unset multiplot
