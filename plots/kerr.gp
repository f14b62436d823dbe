# SPDX-License-Identifier: MIT
# The counterparts of Figures 2 to 6 of Kerr, Campbell and Richards (2009), with the runs that the paper's Table 2 gives, and
# the choice of the blocks' width. kerr.awk wrote work/NAME/SERIES.tsv.
count(pattern) = system("ls '".work."/".name."' | grep -c '^".pattern."_'") > 0
panels = 2 + count("gemv") + count("host") + count("apply") + count("width")
height = 425 * panels
load scripts."/style.gp"
runs = prefixed("run_", "ahead cusolver kerr blas reflectors")
hosts = all_of("host_*", 2)
lapack = all_of("run_lapack_*", 3)
papers = prefixed("paper_", "9800gx2 gtx280")
gemvs = prefixed("gemv_", "cublas kerr tuned t_cublas t_kerr t_tuned")
applied = prefixed("apply_", "blas_a blas_q steps_a steps_q")
widths = prefixed("width_", "blas_1024 blas_4096 blas_8192 ahead_1024 ahead_4096 ahead_8192")
gpu_of(s) = last(s) eq "gtx280" ? "GTX 280 (paper)" : "9800 GX2 (paper)"
threads(s) = last(s).(last(s) eq "1" ? " thread" : " threads")
key_of(s) = part(s, 1) eq "gemv" ? (part(s, 2) eq "t" ? "A'x, " : "").(last(s) eq "cublas" ? "cuBLAS" : last(s) eq "kerr" ? "the paper's kernel" : "tuned") : \
	part(s, 1) eq "run" ? (last(s) eq "ahead" ? "ours" : last(s) eq "cusolver" ? "cuSOLVER" : last(s) eq "kerr" ? "the paper's kernels" : \
	last(s) eq "blas" ? "BLAS calls (Algorithm 3)" : "BLAS calls (Algorithm 1)") : \
	(part(s, 2) eq "blas" ? "BLAS calls, " : "ours, ").(part(s, 1) eq "apply" ? "to ".(last(s) eq "a" ? "A" : "Q") : "m = ".last(s))
set multiplot
set key maxrows 3
set logscale xy
set format y "10^{%L}"
sizes = "set xrange [400:20000]; set xtics (512, 1024, 2048, 4096, 8192, 16384); set xlabel 'm' offset 0,0.4"
@sizes
if (words(gemvs) > 0) {
	eval next("A x (Figure 2), also of A transposed, A m x m - ".machine).ylabel("Gflop/s").curves(gemvs, "m", "gflops", "predicted", 1)
	plot @both, known("gpu_dram_read") / 2e9 with lines lt 7 dt 2 title "DRAM reads", 69 with lines lt 5 dt 3 title "GTX 280, best (paper)"
}
eval next("Time of QR with the whole Q, m x m/2 (Figure 3) - ".machine).ylabel("seconds").curves(runs, "m", "seconds", "predicted", 1)
plot @both, \
	for [j=1:words(lapack)] file(word(lapack, j)) using "m":"seconds" with linespoints lt 2+j title "LAPACK, ".threads(word(lapack, j)), \
	for [j=1:words(papers)] file(word(papers, j)) using "m":"seconds" with points lt 6+j ps 1.2 title gpu_of(word(papers, j)), @dashed
eval next("Rate against work (Figure 4)").ylabel("Gflop/s").xlabel("Gflop (Table 1)").curves(runs, "gflop", "gflops", "gflops_predicted", 1)
eval xrange("*:*").xtics("auto")
set format x "%g"
plot @both, for [j=1:words(papers)] file(word(papers, j)) using "gflop":"gflops" with points lt 6+j ps 1.2 title gpu_of(word(papers, j)), \
	@dashed
@sizes
if (words(hosts) > 0) {
	eval next("Speedup over LAPACK on the host (Figure 5)").ylabel("ratio")
	plot for [j=1:words(hosts)] file(word(hosts, j)) using "m":"ratio" with linespoints lt 2+j title threads(word(hosts, j))
}
if (words(applied) > 0) {
	eval next("A <- P^T A and Q <- Q P (Figure 6)").ylabel("Gflop/s (Table 1)").curves(applied, "m", "gflops", "predicted", 1)
	plot @both, for [j=1:words(papers)] file(word(papers, j)) using "m":"apply_a" with points lt 6+j pt 6 ps 1.2 \
		title gpu_of(word(papers, j)).", to A", \
		for [j=1:words(papers)] file(word(papers, j)) using "m":"apply_q" with points lt 6+j pt 4 ps 1.2 \
		title gpu_of(word(papers, j)).", to Q"
}
if (words(widths) > 0) {
	eval next("The width r of the blocks").ylabel("seconds").xlabel("r").curves(widths, "r", "seconds", "predicted", 1).xrange("14:300")
	eval xtics("(16, 32, 64, 128, 256)")
	plot @both
}
unset multiplot
