# SPDX-License-Identifier: MIT
# The counterparts of Figures 6 to 10 of Brandes, Arnold, Soddemann and Reith (2012). gram_schmidt.awk wrote
# work/NAME/SERIES.tsv.
files(pattern) = int(system("cd '".work."' && ls ".name."/".pattern." 2>/dev/null | wc -l"))
list(pattern) = system("cd '".work."' && ls ".name."/".pattern." 2>/dev/null | sed 's,.tsv$,,' | sort -t _ -k 5 -n")
kernels = "update dots"
accesses = "direct shared wide"
shapes(kernel, access) = list("shape_".kernel."_".access."_*.tsv")
shaped = 0
do for [k in kernels] { do for [a in accesses] { shaped = shaped + (words(shapes(k, a)) > 0) } }
panels = shaped + (files("left_*.tsv") > 0) + (files("form_*.tsv") > 0) + (files("best_*.tsv") > 0)
height = 383 * panels
load scripts."/style.gp"
s(x) = name."/".x
last(x) = system("echo '".x."' | sed 's,.*_,,'")
left_shapes = system("cd '".work."' && ls ".name."/left_*.tsv 2>/dev/null | sed 's,.tsv$,,' | sort")
forms = present(s("form_cublas")." ".s("form_direct")." ".s("form_shared")." ".s("form_wide")." ".s("form_kernels")." ".\
	s("form_fused")." ".s("form_blocked")." ".s("form_block")." ".s("form_twice"))
sides = present(s("best_gpu")." ".s("best_cpu"))
title_of(k) = k eq "update" ? "Orthogonalization (Figure 6)" : "Dot products (Figure 7)"
access_of(a) = a eq "direct" ? "direct access" : a eq "shared" ? "through shared memory" : "direct, 16 bytes an access"
roof(k) = k eq "update" ? (exists("gpu_dram_copy") ? gpu_dram_copy / 1e9 : NaN) : (exists("gpu_dram_read") ? gpu_dram_read / 1e9 : NaN)
set multiplot
left = 0.13; right = 0.97
set key maxrows 4
i = 0
next = "i = i + 1; bottom = 1.0 - (i-0.37)/panels; top = 1.0 - (i-0.88)/panels"
set logscale x 2

do for [k in kernels] {
	do for [a in accesses] {
		each = shapes(k, a)
		if (words(each) > 0) {
			@next
			@panel
			set title title_of(k).", ".access_of(a)." - ".machine
			set xlabel "NX" offset 0,0.4
			set ylabel "GB/s"
			set xrange [28:1200]
			set yrange [0:*]
			set xtics (32, 64, 128, 256, 512, 1024)
			plot for [j=1:words(each)] file(word(each, j)) using "nx":"gbs" with linespoints lt j title "NY = ".last(word(each, j)), \
				for [j=1:words(each)] file(word(each, j)) using "nx":"predicted" with lines lt j dt 2 notitle, \
				roof(k) with lines lt 7 dt 3 title k eq "update" ? "DRAM copy" : "DRAM reads", \
				NaN with lines lt 7 dt 2 title "predicted"
		}
	}
}
set logscale xy 2
if (words(left_shapes) > 0) {
	@next
	@panel
	set title "A pass as the matrix shrinks (Figure 8), by NX x NY - ".machine
	set xlabel "columns that are left" offset 0,0.4
	set ylabel "us"
	set xrange [*:*]
	set yrange [*:*]
	set xtics (16, 64, 256, 1024, 4096)
	plot for [j=1:words(left_shapes)] file(word(left_shapes, j)) using "n":(column("seconds") * 1e6) with linespoints lt j \
		title last(word(left_shapes, j)), \
		for [j=1:words(left_shapes)] file(word(left_shapes, j)) using "n":(column("predicted") * 1e6) with lines lt j dt 2 notitle, \
		NaN with lines lt 7 dt 2 title "predicted"
}
sizes = "set xrange [900:18700]; set yrange [*:*]; set xtics (256, 512, 1024, 2048, 4096, 8192, 16384, 32768); set xlabel 'n' offset 0,0.4"
unset logscale
set logscale x 2
set logscale y 10
if (words(forms) > 0) {
	@next
	@panel
	@sizes
	set title "All columns of n x n (Figure 9) - ".machine
	set ylabel "Tflop/s"
	plot for [j=1:words(forms)] file(word(forms, j)) using "n":(column("gflops") / 1e3) with linespoints lt j title last(word(forms, j)) eq "cublas" ? \
		"cuBLAS" : last(word(forms, j)), \
		for [j=1:words(forms)] file(word(forms, j)) using "n":(column("predicted") / 1e3) with lines lt j dt 2 notitle, \
		NaN with lines lt 7 dt 2 title "predicted"
}
if (words(sides) > 0) {
	@next
	@panel
	@sizes
	set title "The best on the GPU and on the CPU (Figure 10)"
	set ylabel "Tflop/s"
	plot for [j=1:words(sides)] file(word(sides, j)) using "n":(column("gflops") / 1e3) with linespoints lt j \
		title last(word(sides, j)) eq "gpu" ? "GPU" : "CPU", \
		for [j=1:words(sides)] file(word(sides, j)) using "n":(column("modified") / 1e3) with linespoints lt j dt 4 \
		title (last(word(sides, j)) eq "gpu" ? "GPU" : "CPU").", modified Gram-Schmidt"
}
unset multiplot
