# SPDX-License-Identifier: MIT
# Factorizations over several GPUs, predicted (dashed) and measured (points). scaling.awk wrote work/NAME/OPERATION_strong_N.tsv,
# OPERATION_weak_0.tsv and OPERATION_measured_N.tsv (gpus, speedup, rate).
height = 860
load scripts."/style.gp"
set multiplot
set logscale x 2
set xtics (1, 2, 4, 8, 16, 32, 64)
set xrange [0.9:75]
set key maxrows 3
strong = all_of("*_strong_*", 3)
weak = all_of("*_weak_*", 1)
measured = all_of("*_measured_*", 3)
dash(n) = n eq "32768" ? 2 : 4
key_of(s) = title_of(part(s, 1))." ".part(s, 3)
eval place(0.13, 0.97, 0.62, 0.94, "Speedup over one GPU, single precision, fp32 - ".machine).ylabel("ratio").xlabel("GPUs, eight in a host")
set logscale y 2
set ytics (1, 2, 4, 8, 16, 32, 64)
set yrange [0.5:75]
plot x with lines lt 7 dt 3 title "ideal", for [f in strong] file(f) using "gpus":"speedup" with lines lt colour_of(part(f, 1)) dt dash(part(f, 3)) title key_of(f), \
	for [f in measured] file(f) using "gpus":"speedup" with points lt colour_of(part(f, 1)) ps 0.9 notitle
unset logscale y
eval place(0.13, 0.97, 0.14, 0.42, "As many elements for each GPU: 32768 x 32768 on one").ylabel("Tflop/s a GPU").xlabel("GPUs, eight in a host")
set yrange [0:*]
set ytics autofreq
plot for [f in weak] file(f) using "gpus":"rate" with lines lt colour_of(part(f, 1)) dt 2 title title_of(part(f, 1))
unset multiplot
