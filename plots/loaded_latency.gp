# SPDX-License-Identifier: MIT
# Title: Latency under load
# Question: How long does a load take while other SMs move data, and how many bytes in flight reach the full rate?
# Chapter: memory
# Figure: Above, the latency of a dependent load against the rate at which other blocks read DRAM or L2; at the highest rates its own SM has some of them. Then DRAM reads alone, by plain loads, asynchronous copies (cp.async) and the bulk copy engine: against bytes in flight on every SM, against the number of SMs that read, and against the warps of every SM that load or start copies, each with 2 KiB in flight.
# Parameters: gpu.loaded. gpu.saturation. gpu.engine. gpu.sm.read gpu.sm.l2_read
height = 1640
load scripts."/style.gp"
rate(c) = 1e-12 / column(c)
# Latency and offered rate of one level stand in two series: joined by the level.
join(place) = "< awk -F '\\t' 'FNR == 1 { for (i = 1; i <= NF; i++) { if ($i == \"level\") l = i; if ($i == \"seconds\") s = i } next } ".\
	"FNR == NR { t[$l] = $s; next } $l in t { print 1e-12 / $s \"\\t\" t[$l] * 1e9 }' ".\
	file("loaded_latency/latency_".last(place))." ".file(place)." | sort -n"
places = present("loaded_latency/offered_dram loaded_latency/offered_l2")
inflight = "loaded_latency/inflight"
engine_name(e) = word("loads cp.async bulk_copies", e)
engine_title(e) = system("echo ".engine_name(e)." | tr _ ' '")
set multiplot
left = 0.13; right = 0.97
eval place(left, right, 0.800, 0.970, "Latency of a load beside streams - ".machine).xlabel("TB/s that the others read").ylabel("nanoseconds")
eval yrange("0:*").xrange("0:*")
unset datafile columnheaders
if (words(places) > 0) plot for [f in places] join(f) using 1:2 with linespoints title last(f) eq "l2" ? "both in L2" : "both in DRAM"
set datafile columnheaders
eval place(left, right, 0.546, 0.713, "DRAM reads against bytes under way, all SMs").logscale("x 2").xlabel("KiB under way on every SM")
eval ylabel("TB/s").xrange("*:*")
engines = values(inflight, "engine")
if (words(engines) > 0) plot for [e in engines] file(inflight) using (column("inflight")/1024*where("engine", e+0)):(rate("seconds")):(rate("high")):(rate("low")) \
	with yerrorlines lt e+0 title engine_title(e+0)
eval place(left, right, 0.297, 0.463, "DRAM reads against SMs that read").xlabel("SMs")
sms = present("loaded_latency/sms loaded_latency/sms_upper")
if (words(sms) > 0) {
	engines = values("loaded_latency/sms", "engine")
	plot for [e in engines] for [i=1:words(sms)] file(word(sms, i)) \
		using (column("sms")*where("engine", e+0)):(rate("seconds")):(rate("high")):(rate("low")) with yerrorlines lt e+0 \
		title i == 1 ? engine_title(e+0) : "", \
		exists("gpu_saturation_dram_sms") ? sprintf("< printf 'x\ty\n%g\t0\n%g\t5\n'", gpu_saturation_dram_sms, gpu_saturation_dram_sms) : "< printf 'x\ty\n'" using 1:2 with lines lt 7 dt 2 title "90 % of loads' best"
}
eval place(left, right, 0.053, 0.214, "DRAM reads against warps that load or start copies, all SMs").xlabel("warps of every SM")
engines = values("loaded_latency/warps", "engine")
if (words(engines) > 0) plot for [e in engines] file("loaded_latency/warps") \
	using (column("warps")*where("engine", e+0)):(rate("seconds")):(rate("high")):(rate("low")) with yerrorlines lt e+0 \
	title engine_title(e+0)
unset multiplot
