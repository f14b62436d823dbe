# SPDX-License-Identifier: MIT
# Title: Instructions
# Question: How long does a dependent instruction take, and at which rate does an SM issue it?
# Chapter: instructions
# Figure: Above, single-precision FMA of one SM against warps, with 1 to 8 independent chains in each (LAWN 202, section 3.4). Then the latency of one dependent instruction and the time of one on a saturated SM (warp-wide; a matrix product is larger). Then the share of the FMA rate when an operand is loaded from shared memory or comes from the constant bank (section 3.5; the compiler for sm_90 keeps it in a uniform register); matrix products of one SM against the blocks on it, one chain in each of their warps; and the rates of the device in bursts and over two seconds, with the clock and the power at the end.
# Parameters: gpu.fma. gpu.int. gpu.special. gpu.divide. gpu.sqrt. gpu.warp. gpu.mma. gpu.wgmma. gpu.instruction.
height = 2320
load scripts."/style.gp"
fma = "instruction/fma_s"
chains = values(fma, "chains")
gflops(c) = column("flops") / column(c) / 1e9
all = system("cd '".work."/instruction' 2>/dev/null && ls | grep -v -e sustained -e '^fed_' -e '^overhead' | sed 's/[.]tsv$//' | tr '\\n' ' '")
# A line for each of them: its place, one-chain time and shortest time, in ns.
times = "< cd '".work."/instruction' && for s in ".all."; do awk -v place=$((i = i + 1)) -F '\t' "."'NR == 1 { for (i = 1; i <= NF; i++) a[$i] = i; next } ".\
	"{ t = $a[\"seconds\"] * 1e9; if (best == \"\" || t < best) best = t; if ($a[\"chains\"] == 1 && $a[\"warps\"] == 1 && $a[\"blocks\"] == 1) one = t } ".\
	"END { print place \"\t\" (one == \"\" ? \"NaN\" : one) \"\t\" best }' $s.tsv; done"
fed = "lane broadcast conflict constant"
has_fed = present("instruction/fed_register") ne ""
reference = has_fed ? real(system("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) a[$i] = i; next } { print $a[\"seconds\"]; exit }' '".file("instruction/fed_register")."'")) : NaN
products = present("instruction/mma_d instruction/mma_d16 instruction/mma_tf32 instruction/mma_bf16 instruction/mma_h")
kept = ""
do for [p in "fma_s fma_d mma_d mma_d16 mma_bf16 wgmma_tf32 wgmma_bf16"] { if (exists("gpu_".p."_sustained") && exists("gpu_".p."_rate")) { kept = kept." ".p } }
dotted(s) = system("basename ".s." | sed 's/_/./'")
state(p) = sprintf("%.2f GHz", value("gpu_".p."_sustained_clock") * 1e-9).(exists("gpu_".p."_sustained_power") ? sprintf(", %.0f W", value("gpu_".p."_sustained_power")) : "")
set multiplot
left = 0.17; right = 0.97
eval place(left, right, 0.859, 0.980, "Single-precision FMA of one SM - ".machine).logscale("x 2").xlabel("warps").ylabel("Gflop/s")
eval yrange("0:*")
if (words(chains) > 0) plot for [i=1:words(chains)] file(fma) using (column("warps")*where("chains", word(chains, i)+0)*where("blocks", 1)):(gflops("seconds")):(gflops("high")):(gflops("low")) \
	with yerrorlines lt i title word(chains, i)." chain".(word(chains, i) eq "1" ? "" : "s")
eval place(0.25, right, 0.536, 0.792, "One warp-wide instruction")
unset logscale x
set logscale x 10
set xlabel "nanoseconds" offset 0,0.4
unset ylabel
set yrange [words(all)+0.5:0.5]
set xrange [*:*]
set ytics ()
do for [i=1:words(all)] { set ytics add (system("echo ".word(all, i)." | tr _ .") i) }
set ytics noenhanced
if (words(all) > 0) {
	unset datafile columnheaders
	plot times using 2:1 with points lt 1 ps 0.9 title "latency: one chain of one warp", \
		times using 3:1 with points lt 2 ps 0.9 title "a saturated SM, one after the other"
	set datafile columnheaders
}
eval place(0.17, right, 0.361, 0.462, "FMA with an operand from elsewhere")
unset logscale x
set ytics auto
set logscale x 2
set xrange [3:22]
set xtics (4, 8, 16)
set xlabel "bytes a load" offset 0,0.4
set ylabel "share of the register rate"
set yrange [0:1.1]
if (has_fed) plot for [i=1:words(fed)] file("instruction/fed_".word(fed, i)) using "width":(reference/column("seconds")) with linespoints \
	lt i title system("echo ".word("own_word same_word two-way_conflict constant", i)." | tr _ ' '")
eval place(left, right, 0.198, 0.298, "Matrix products of one SM against its blocks, of 4 warps each").xlabel("blocks").xrange("0.9:2.3")
eval xtics("(1, 2)").ylabel("Tflop/s").yrange("0:*")
if (words(products) > 0) plot for [f in products] file(f) \
	using (column("blocks")*where("chains", 1)*where("warps", 4)):(gflops("seconds")/1e3) with linespoints title dotted(f) noenhanced
eval place(0.25, right, 0.042, 0.132, "In bursts, and kept up for two seconds").xlabel("Tflop/s of the device")
unset ylabel
set logscale x 10
set xrange [10:10000]
set xtics auto
set yrange [words(kept)+0.5:0.5]
set ytics ()
do for [i=1:words(kept)] { set ytics add (dotted(word(kept, i)) i) }
if (words(kept) > 0) plot for [i=1:words(kept)] "+" using (value("gpu_".word(kept, i)."_rate")*1e-12):($0 == 0 ? i : NaN) with points \
	lt 1 ps 0.9 title i == 1 ? "burst" : "", \
	for [i=1:words(kept)] "+" using (value("gpu_".word(kept, i)."_sustained")*1e-12):($0 == 0 ? i : NaN) with points lt 2 ps 0.9 \
	title i == 1 ? "two seconds" : "", \
	for [i=1:words(kept)] "+" using (value("gpu_".word(kept, i)."_rate")*1.15e-12):($0 == 0 ? i : NaN):(state(word(kept, i))) \
	with labels left noenhanced notitle
unset multiplot
