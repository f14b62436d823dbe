# SPDX-License-Identifier: MIT
# Design rules out of the chip's inside: caches, pages, banks, arithmetic, sharing. rules.awk calls chip_rules() and
# cache_rules_host(), which use its have(), rests() and bytes().

# The largest value that an argument of a function takes among its usable rows, "" without any.
function last_argument(name, key,   i, x, most) {
	for (i = 1; i <= P["rows"]; i++) {
		x = argument(P[i, "parameter"], key)
		if (base_name(P[i, "parameter"]) == name && value(P[i, "parameter"]) != "" && x != "" && (most == "" || x > most))
			most = x
	}
	return most
}

function working_sets(   list, level) {
	list = "gpu.l1.size gpu.l1.latency gpu.l2.latency"
	if (have("Working set of an SM", list))
		item("Working set of an SM: up to " bytes(value("gpu.l1.size")) " are re-read from L1 in " \
			with_unit(value("gpu.l1.latency"), "s") "; beyond, every miss costs " with_unit(value("gpu.l2.latency"), "s") "." rests(list))
	list = "gpu.l2.near.size gpu.l2.latency"
	if (have("Near part of L2", list))
		item("Near part of L2: an SM re-reads " bytes(value("gpu.l2.near.size")) " at " with_unit(value("gpu.l2.latency"), "s") "." rests(list))
	list = "gpu.l2.beyond_near.latency gpu.l2.near.size"
	if (have("Beyond the near part of L2", list))
		item("Beyond the near part of L2: a load that misses it takes " with_unit(value("gpu.l2.beyond_near.latency"), "s") \
			" while the set fits in L2, so data that all SMs share is best kept below " bytes(value("gpu.l2.near.size")) "." rests(list))
	list = "gpu.l2.other_hit.latency gpu.l2.near_hit.latency"
	if (value("gpu.l2.far_hit.latency") == "" && have("Far part of L2", list))
		item("Far part of L2: the first load of a line that the other partition read takes " with_unit(value("gpu.l2.other_hit.latency"), "s") \
			sprintf(", %.2f of what it takes after the own one did: none stands out as far.", value("gpu.l2.other_hit.latency") / value("gpu.l2.near_hit.latency")) rests(list))
	list = "gpu.l2.far_hit.latency gpu.l2.near_hit.latency"
	if (value("gpu.l2.far_hit.latency") != "" && have("Far part of L2", list))
		item("Far part of L2: the first load of a line that the other partition holds takes " with_unit(value("gpu.l2.far_hit.latency"), "s") \
			sprintf(", %.2f of a near hit; read again it is near.", value("gpu.l2.far_hit.latency") / value("gpu.l2.near_hit.latency")) rests(list))
	list = "gpu.dram.far.latency gpu.dram.near.latency"
	if (value("gpu.dram.far.latency") != "" && have("Memory behind the other part of L2", list))
		item("Memory behind the other part of L2: a load from there takes " with_unit(value("gpu.dram.far.latency"), "s") ", from the own one's " \
			with_unit(value("gpu.dram.near.latency"), "s") "." rests(list))
	list = "gpu.constant.l15.shared_by gpu.constant.l15.latency gpu.constant.size"
	if (value("gpu.constant.l15.shared_by") > 1 && have("Constants", list))
		item("Constants: beyond " bytes(value("gpu.constant.size")) " an SM reads them in " with_unit(value("gpu.constant.l15.latency"), "s") \
			" from a cache that " value("gpu.constant.l15.shared_by") " SMs share." rests(list))
	for (level = 1; level <= last_argument("gpu.tlb.penalty", "level"); level++) {
		list = "gpu.tlb.reach[level=" level "] gpu.tlb.penalty[level=" level "]"
		if (have("Address translation, level " level, list))
			item("Address translation, level " level ": random accesses over more than " bytes(value("gpu.tlb.reach[level=" level "]")) \
				" pay " with_unit(value("gpu.tlb.penalty[level=" level "]"), "s") " more each." rests(list))
	}
	list = "gpu.cluster.latency[distance=1] gpu.l2.latency gpu.shared.latency"
	if (have("Neighbours in a cluster", list))
		item(sprintf("Neighbours in a cluster: a load from another block's shared memory takes %.2f of one from L2 and %.1f of one from own shared memory.", \
			value("gpu.cluster.latency[distance=1]") / value("gpu.l2.latency"), \
			value("gpu.cluster.latency[distance=1]") / value("gpu.shared.latency")) rests(list))
}

function saturation(   list, engine, i, name) {
	split("plain loads,asynchronous copies,bulk copies", engine, ",")
	for (i = 1; i <= 3; i++) {
		name = "gpu.saturation.dram.bytes_per_sm[engine=" i "]"
		if (value(name) != "")
			item("Bytes in flight as measured, " engine[i] ": 90 % of the DRAM read rate needs " bytes(value(name)) \
				" under way on every SM." rests(name))
	}
	list = "gpu.saturation.dram.sms gpu.sm.count"
	if (have("SMs that saturate DRAM", list))
		item("SMs that saturate DRAM: " significant(value("gpu.saturation.dram.sms"), 3) " of " sm_count() \
			" reach 90 % of the read rate; the others are free for arithmetic." rests(list))
	list = "gpu.loaded.dram.latency[load=0.8] gpu.dram.latency"
	if (have("Latency under load", list))
		item(sprintf("Latency under load: at 80 %% of the DRAM rate a load takes %.2f times as long as on an idle chip.", \
			value("gpu.loaded.dram.latency[load=0.8]") / value("gpu.dram.latency")) rests(list))
}

function conflicts(   list) {
	list = "gpu.bank.saturated.load[ways=32,width=4] gpu.bank.saturated.load[ways=1,width=4]"
	if (have("Bank conflicts on a saturated SM", list))
		item(sprintf("Bank conflicts on a saturated SM: a 32-way conflict costs %.1f conflict-free accesses.", \
			value("gpu.bank.saturated.load[ways=32,width=4]") / value("gpu.bank.saturated.load[ways=1,width=4]")) rests(list))
	list = "gpu.bank.alone.way gpu.shared.latency"
	if (have("Bank conflicts of one warp alone", list))
		item(sprintf("Bank conflicts of one warp alone: each further way adds %s, %.0f %% of the latency of a load; a few ways do not matter there.", \
			with_unit(value("gpu.bank.alone.way"), "s"), 100 * value("gpu.bank.alone.way") / value("gpu.shared.latency")) rests(list))
	list = "gpu.atomic.global.saturated.red_u32[stride_bytes=0] gpu.atomic.global.alone.u32"
	if (have("Counters", list))
		item("Counters: atomics of all SMs on one word pass at one per " \
			with_unit(value("gpu.atomic.global.saturated.red_u32[stride_bytes=0]") / 32, "s") " (a warp's 32 add " \
			with_unit(value("gpu.atomic.global.saturated.red_u32[stride_bytes=0]"), "s") "); one round trip alone takes " \
			with_unit(value("gpu.atomic.global.alone.u32"), "s") "." rests(list))
}

function arithmetic(   list, chains, i, name) {
	list = "gpu.fma.s.latency gpu.fma.s.rate gpu.sm.count gpu.clock.sm"
	if (have("Independent operations", list)) {
		chains = value("gpu.fma.s.latency") * value("gpu.fma.s.rate") / 64 / sm_count()
		item(sprintf("Independent operations: an SM needs %.0f warp-wide FMAs under way for its single-precision peak, warps times independent chains of each.", chains) rests(list))
	}
	list = "gpu.wgmma.tf32.rate gpu.fma.s.rate"
	if (have("Tensor cores", list))
		item(sprintf("Tensor cores: tf32 products run at %.1f times the single-precision FMA peak, so up to %d of them may stand for one in single precision.", \
			value("gpu.wgmma.tf32.rate") / value("gpu.fma.s.rate"), value("gpu.wgmma.tf32.rate") / value("gpu.fma.s.rate")) rests(list))
	list = "gpu.mma.d16.rate gpu.fma.d.rate"
	if (have("Double precision", list))
		item(sprintf("Double precision: the tensor cores reach %.2f times the FMA rate.", value("gpu.mma.d16.rate") / value("gpu.fma.d.rate")) rests(list))
	list = "gpu.fma.s.sustained gpu.fma.s.rate"
	if (have("Sustained arithmetic", list))
		item("Sustained arithmetic: two seconds of FMA keep " percent(value("gpu.fma.s.sustained") / value("gpu.fma.s.rate"), "%.0f") \
			" % of the burst rate." rests(list))
	split("fma.d mma.d16 wgmma.tf32 wgmma.bf16", name, " ")
	for (i = 1; i <= 4; i++) {
		list = "gpu." name[i] ".sustained gpu." name[i] ".rate gpu." name[i] ".sustained_clock"
		if (value("gpu." name[i] ".sustained") != "" && have("Sustained arithmetic, " name[i], list))
			item("Sustained arithmetic, " name[i] ": two seconds keep " \
				percent(value("gpu." name[i] ".sustained") / value("gpu." name[i] ".rate"), "%.0f") " % of the burst rate, at " \
				significant(value("gpu." name[i] ".sustained_clock") / 1e9, 3) " GHz." rests(list))
	}
}

# The rank from which an update of the largest square reaches half, and 80 %, of the library's best.
function block_sizes(precision,   i, name, n, k, peak, rate, half, most) {
	peak = "gpu.gemm." precision ".peak"
	n = last_argument("gpu.gemm." precision, "n")
	if (!have("Rank of an update (" precision ")", peak) || n == "")
		return
	for (i = 1; i <= P["rows"]; i++) {
		name = P[i, "parameter"]
		k = argument(name, "k")
		if (base_name(name) != "gpu.gemm." precision || argument(name, "n") != n || argument(name, "m") != n || value(name) == "")
			continue
		rate = 2 * n * n * k / value(name) / value(peak)
		if (rate >= 0.5 && (half == "" || k < half))
			half = k
		if (rate >= 0.8 && (most == "" || k < most))
			most = k
	}
	if (half != "")
		item("Rank of an update (" precision "): the library's gemm reaches half of its best rate from k = " half \
			(most == "" ? "" : " and 80 % from k = " most) " on (m = n = " n ")." rests(peak))
}

function sharing(   list) {
	list = "gpu.overlap.h2d gpu.overlap.d2h"
	if (have("Copies beside kernels", list))
		item(sprintf("Copies beside kernels: %.0f %% of a copy to the device and %.0f %% of one to the host hide behind a kernel that computes.", \
			100 * value("gpu.overlap.h2d"), 100 * value("gpu.overlap.d2h")) rests(list))
	list = "gpu.queue.depth gpu.launch.enqueue gpu.launch.dependent"
	if (have("Queue depth", list))
		item("Queue depth: a stream takes " significant(value("gpu.queue.depth"), 4) \
			" launches; the host may run ahead by that much, then it waits." rests("gpu.queue.depth"))
}

function chip_rules() {
	working_sets()
	saturation()
	conflicts()
	arithmetic()
	block_sizes("s")
	block_sizes("d")
	sharing()
}

function cache_rules_host(   level, name, latency, stated) {
	for (level = 1; level <= 4; level++) {
		name = "host.l" level
		latency = value(name ".latency")
		stated = value(name ".stated")
		if (level > 3 && stated == "" || !have("Host cache, level " level, name ".size"))
			continue
		item("Host cache, level " level ": " bytes(value(name ".size")) \
			(stated == "" ? "" : " (stated: " bytes(stated) ")") \
			(latency == "" ? "; what a load takes is not resolved." : " at " with_unit(latency, "s") " a load.") \
			rests(name ".size" (latency == "" ? "" : " " name ".latency")))
	}
}
