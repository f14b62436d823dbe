# SPDX-License-Identifier: MIT
# Factorizations over several GPUs, predicted (dashed) and measured (points). scaling.awk wrote work/NAME/OPERATION_strong_N.tsv,
# OPERATION_weak_N.tsv and OPERATION_measured_N.tsv (gpus, speedup, rate).
lower = int(system("ls ".work."/".name."/*_weak_*.tsv 2>/dev/null | grep -c .")) ? 413 : 0 # pixels that the lower panel takes
height = 447 + lower
load scripts."/style.gp"
strong = all_of("*_strong_*", 3)
weak = all_of("*_weak_*", 1)
measured = all_of("*_measured_*", 3)
sizes = system("cd ".work."/".name." && ls | sed -n 's/.*_[sm][a-z]*_\\([0-9]*\\).tsv$/\\1/p' | sort -nu")
most = real(system("cd ".work."/".name." && cut -f 1 *.tsv | sort -n | tail -n 1"))
nth_size(n) = sum [i=1:words(sizes)] (word(sizes, i) eq n ? i : 0)
dash(s) = int(word("2 4 5 1", (nth_size(part(s, 3))+3)%4+1))
mark(s) = int(word("7 9 5 13", (nth_size(part(s, 3))+3)%4+1))
key_of(s) = title_of(part(s, 1))." ".part(s, 3)
within(list, s) = (sum [i=1:words(list)] (word(list, i) eq s)) > 0
counterpart(s, kind) = name."/".part(s, 1)."_".kind."_".part(s, 3)
gpus = most > 8 ? "GPUs, eight in a host" : "GPUs"
set multiplot
set logscale x 2
set xtics (1, 2, 4, 8, 16, 32, 64)
set xrange [0.9:1.17*most]
set key maxrows 3
eval place(0.13, 0.97, (120.+lower)/height, (395.+lower)/height, "Speedup over one GPU, single precision, fp32 - ".machine).ylabel("ratio").xlabel(gpus)
set logscale y 2
if (most > 2) { set ytics (1, 2, 4, 8, 16, 32, 64) } else { set ytics (0.5, 0.75, 1, 1.25, 1.5, 1.75, 2) }
set yrange [*<0.9:1.17*most] noextend
set label 1 "ideal" at first sqrt(most), first sqrt(most) right offset -1,0.7 textcolor lt 7
plot x with lines lt 7 dt 3 notitle, for [f in strong] file(f) using "gpus":"speedup" with lines lt colour_of(part(f, 1)) dt dash(f) notitle, \
	for [f in measured] file(f) using "gpus":"speedup" with points lt colour_of(part(f, 1)) pt mark(f) ps 0.9 notitle, \
	for [f in strong] NaN with linespoints lt colour_of(part(f, 1)) dt dash(f) pt mark(f) ps (within(measured, counterpart(f, "measured")) ? 0.9 : 0) title key_of(f), \
	for [f in measured] NaN with points lt colour_of(part(f, 1)) pt mark(f) ps 0.9 title words(measured) && !within(strong, counterpart(f, "strong")) ? key_of(f) : ""
unset label 1
if (words(weak)) {
	unset logscale y
	eval place(0.13, 0.97, 120./height, 361./height, sprintf("As many elements for each GPU: %s x %s on one", part(weak, 3), part(weak, 3))).ylabel("Tflop/s a GPU").xlabel(gpus)
	set yrange [0:*]
	set ytics autofreq
	plot for [f in weak] file(f) using "gpus":"rate" with lines lt colour_of(part(f, 1)) dt 2 title title_of(part(f, 1))
}
unset multiplot
