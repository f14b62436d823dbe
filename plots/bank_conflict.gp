# SPDX-License-Identifier: MIT
# Title: Bank conflicts and atomics
# Question: How long do accesses with bank conflicts, columns of a tile and atomics take, for one warp alone and on a saturated SM?
# Chapter: inside
# Figure: Time of one warp-wide instruction. Alone: one warp, dependent (latency; stores one after the other). Saturated: 32 warps on every SM, independent (per instruction of one SM; global atomics: of the whole device). Ways: lanes that access different words of the same bank, counted in each wavefront of 128 bytes: a warp's 8-byte access takes 2, its 16-byte access 4 of them without any conflict. Atomics: lanes that share one word.
# Parameters: gpu.bank. gpu.atomic. gpu.shared.read gpu.shared.write
height = 1700
load scripts."/style.gp"
# An end of the times of some series, ns.
end(list, sign) = real(system("cd '".work."' && awk -F '\\t' 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == \"seconds\") c = i; next } ".\
	"!n++ || $c * ".sign." > t * ".sign." { t = $c } END { print t * 1e9 }' $(printf '%s.tsv ' $(echo '".list."'))"))
# Cycles on the right, of the clock measured meanwhile.
hz = exists("gpu_bank_clock") ? gpu_bank_clock : 0
axes = "low = 0.7*end(list, '-1'); high = 1.4*end(list, '1'); set yrange [low:high]; if (hz > 0) { set border 11; ".\
	"set logscale y2; set y2range [low*hz*1e-9:high*hz*1e-9]; set y2tics; set y2label 'cycles' }"
series(list) = present(system("printf 'bank_conflict/%s ' ".list))
name_of(s) = system("echo '".s."' | sed 's,.*/,,; s,_shared_, ,; s,cas$,CAS loop,; s,u32$,int add,; s,f32$,float add,'")
shared = series("alone_shared_u32 alone_shared_f32 alone_shared_cas saturated_shared_u32 saturated_shared_f32 saturated_shared_cas")
tile = series("alone_tile_load alone_tile_store saturated_tile_load saturated_tile_store")
global = series("saturated_global_atom_u32 saturated_global_red_u32 saturated_global_red_f32 saturated_global_red_f64")
set multiplot
left = 0.12; right = 0.88
set logscale x 2
set logscale y
set xtics (1, 2, 4, 8, 16, 32)
set xrange [0.9:36]
set ylabel "nanoseconds"
do for [k in "alone saturated"] {
	first = k eq "alone"
	list = series(k."_load ".k."_store")
	eval place(left, right, first ? 0.82 : 0.565, first ? 0.975 : 0.72, first ? "One warp alone - ".machine : "Saturated SM")
	eval xlabel("ways, or words broadcast")
	if (words(list) > 0) {
		@axes
		plot for [i=1:words(list)] for [w in "4 8 16"] file(word(list, i)) using (column("ways")*where("width", w+0)):@in_ns \
			with yerrorlines lt (w eq "4" ? 1 : w eq "8" ? 2 : 3) dt 2*i-1 title word("load store", i)." ".w." B", \
			for [f in series(k."_broadcast")] file(f) using (column("words")*where("width", 4)):(ns("seconds")) \
			with points lt 8 pt 6 ps 1.2 title "words broadcast, 4 B"
	}
}
set key maxrows 3
eval place(left, right, 0.31, 0.465, "Atomics in shared memory").xname("lanes on one word")
if (words(shared) > 0) {
	list = shared
	@axes
	plot for [f in shared] file(f) using "ways":@in_ns with yerrorlines title name_of(f)
}
unset logscale x
set xlabel " "
set key maxrows 4
eval place(0.12, 0.40, 0.095, 0.21, "Column of a 32 x 32 tile")
set xtics ("padded to 33" 33, "32" 32)
set xrange [31.5:33.5]
if (words(tile) > 0) {
	list = tile
	@axes
	plot for [f in tile] file(f) using "pitch":@in_ns with yerrorlines title label(f)
}
eval place(0.60, 0.96, bottom, top, "Atomics in global memory, all SMs")
unset y2tics
unset y2label
set border 3
set yrange [*:*]
set xtics ("a line each" 0, "neighbours" 1, "one word" 2)
set xrange [-0.3:2.3]
unset ylabel
slot(stride) = stride > 8 ? 0 : stride > 0 ? 1 : 2
if (words(global) > 0) plot for [i=1:words(global)] file(word(global, i)) using (slot(column("stride_bytes"))):@in_ns with yerrorbars \
	lt i pt 5+i ps 1 title system("echo '".word(global, i)."' | sed 's,.*global_,,; s,_, ,'")
unset multiplot
