# SPDX-License-Identifier: MIT
# Gram-Schmidt of n x n: the fastest on the GPU and on the CPU, and the paper's kernels. gram_schmidt.awk wrote work/NAME/SERIES.tsv.
width = 520
height = 380
load scripts."/style.gp"
list = prefixed("best_", "gpu cpu")." ".prefixed("form_", "cublas shared fused blocked")
text_of(s) = base(s) eq "best_gpu" ? "GPU, fastest" : base(s) eq "best_cpu" ? "CPU, fastest" : last(s) eq "cublas" ? "cuBLAS" : last(s) eq "shared" ? "paper: shared" : last(s)
line_of(s) = base(s) eq "best_gpu" ? 1 : base(s) eq "best_cpu" ? 2 : last(s) eq "cublas" ? 7 : last(s) eq "shared" ? 4 : last(s) eq "fused" ? 3 : 5
eval place(0.13, 0.72, 0.14, 0.97, "").nokey.xlabel("n").ylabel("Tflop/s")
unset title
set logscale xy
set format y "%g"
set xtics (256, 1024, 4096, 16384)
plot for [i=1:words(list)] file(word(list, i)) using "n":(column("gflops")*1e-3) with lines lt line_of(word(list, i)), \
	for [i=1:words(list)] file(word(list, i)) using (column("n")):(column("gflops")*1e-3):(sprintf("n = %.0f: %.3g Tflop/s", column("n"), column("gflops")*1e-3)) \
	with labels hypertext point lt line_of(word(list, i)) ps 0.5, \
	named(list, "n", "gflops", "1e3", "log") using 1:2:3:4 @at_end
