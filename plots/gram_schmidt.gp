# SPDX-License-Identifier: MIT
# The counterparts of Figures 6 to 10 of Brandes, Arnold, Soddemann and Reith (2012). gram_schmidt.awk wrote
# work/NAME/SERIES.tsv.
panels = int(system("cd '".work."/".name."' && ls | sed -n 's,^\\(shape_[a-z]*_[a-z]*\\)_.*,\\1,p; s,^\\(left\\|form\\|best\\)_.*,\\1,p' | sort -u | wc -l"))
height = 383 * panels
load scripts."/style.gp"
shapes(kernel, access) = all_of("shape_".kernel."_".access."_*", 5)
left_shapes = all_of("left_*", 9)
forms = prefixed("form_", "cublas direct shared wide kernels fused blocked block twice")
sides = prefixed("best_", "gpu cpu")
kernel_of(k) = k eq "update" ? "Orthogonalization (Figure 6)" : "Dot products (Figure 7)"
access_of(a) = a eq "direct" ? "direct access" : a eq "shared" ? "through shared memory" : "direct, 16 bytes an access"
key_of(s) = part(s, 1) eq "shape" ? "NY = ".last(s) : last(s) eq "cublas" ? "cuBLAS" : last(s)
side_of(s) = last(s) eq "gpu" ? "GPU" : "CPU"
set multiplot
set key maxrows 4
set logscale x 2
do for [k in "update dots"] {
	do for [a in "direct shared wide"] {
		each = shapes(k, a)
		if (words(each) > 0) {
			eval next(kernel_of(k).", ".access_of(a)." - ".machine).xlabel("NX").ylabel("GB/s").curves(each, "nx", "gbs", "predicted", 1)
			eval xrange("28:1200").yrange("0:*").xtics("(32, 64, 128, 256, 512, 1024)")
			plot @both, known(k eq "update" ? "gpu_dram_copy" : "gpu_dram_read") / 1e9 with lines lt 7 dt 3 \
				title k eq "update" ? "DRAM copy" : "DRAM reads", @dashed
		}
	}
}
set logscale xy 2
if (words(left_shapes) > 0) {
	eval next("A pass as the matrix shrinks (Figure 8), by NX x NY - ".machine).xlabel("columns that are left").ylabel("us")
	eval curves(left_shapes, "n", "seconds", "predicted", 1e-6)
	set xrange [*:*]
	set yrange [*:*]
	set xtics (16, 64, 256, 1024, 4096)
	plot @both, @dashed
}
sizes = "set xrange [900:18700]; set yrange [*:*]; set xtics (256, 512, 1024, 2048, 4096, 8192, 16384, 32768); set xlabel 'n' offset 0,0.4"
unset logscale
set logscale x 2
set logscale y 10
if (words(forms) > 0) {
	eval next("All columns of n x n (Figure 9) - ".machine).ylabel("Tflop/s").curves(forms, "n", "gflops", "predicted", 1e3)
	@sizes
	plot @both, @dashed
}
if (words(sides) > 0) {
	eval next("The best on the GPU and on the CPU (Figure 10)").ylabel("Tflop/s")
	@sizes
	plot for [f in sides] file(f) using "n":(column("gflops") / 1e3) with linespoints title side_of(f), \
		for [j=1:words(sides)] file(word(sides, j)) using "n":(column("modified") / 1e3) with linespoints lt j dt 4 \
		title side_of(word(sides, j)).", modified Gram-Schmidt"
}
unset multiplot
