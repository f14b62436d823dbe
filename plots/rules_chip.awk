# SPDX-License-Identifier: MIT
# Design rules on the chip: caches, pages, banks, arithmetic, sharing. rules.awk calls chip_rules() and
# cache_rules_host(), which use its state_rule(), have(), rests(), bytes(), time(), over() and share().

function working_sets(   level, near, reach, penalty) {
	state_rule("Working set of an SM", "gpu.l1.size gpu.l1.latency gpu.l2.latency", \
		"up to " bytes(value("gpu.l1.size")) " are re-read from L1 in " time("gpu.l1.latency") "; beyond, every miss costs " \
		time("gpu.l2.latency") ".")
	state_rule("Near part of L2", "gpu.l2.near.size gpu.l2.latency", \
		"an SM re-reads " bytes(value("gpu.l2.near.size")) " at " time("gpu.l2.latency") ".")
	state_rule("Beyond the near part of L2", "gpu.l2.beyond_near.latency gpu.l2.near.size", \
		"a load that misses it takes " time("gpu.l2.beyond_near.latency") " while the set fits in L2, so keep data that all SMs share below " \
		bytes(value("gpu.l2.near.size")) ".")
	near = "gpu.l2.near_hit.latency"
	if (value("gpu.l2.far_hit.latency") == "")
		state_rule("Far part of L2", "gpu.l2.other_hit.latency " near, \
			"the first load of a line that the other partition read takes " time("gpu.l2.other_hit.latency") ", " \
			over("%.2f", "gpu.l2.other_hit.latency", near) " of the time after a read by its own partition: no far hits were found.")
	else
		state_rule("Far part of L2", "gpu.l2.far_hit.latency " near, \
			"the first load of a line that the other partition holds takes " time("gpu.l2.far_hit.latency") ", " \
			over("%.2f", "gpu.l2.far_hit.latency", near) " of a near hit; read again it is near.")
	if (value("gpu.dram.far.latency") != "")
		state_rule("Memory behind the other part of L2", "gpu.dram.far.latency gpu.dram.near.latency", \
			"a load from there takes " time("gpu.dram.far.latency") ", from its own part " time("gpu.dram.near.latency") ".")
	if (value("gpu.constant.l15.shared_by") > 1)
		state_rule("Constants", "gpu.constant.l15.shared_by gpu.constant.l15.latency gpu.constant.size", \
			"beyond " bytes(value("gpu.constant.size")) " an SM reads them in " time("gpu.constant.l15.latency") " from a cache that " \
			value("gpu.constant.l15.shared_by") " SMs share.")
	for (level = 1; level <= argument(widest("gpu.tlb.penalty", "level", ""), "level"); level++) {
		reach = "gpu.tlb.reach[level=" level "]"
		penalty = "gpu.tlb.penalty[level=" level "]"
		state_rule("Address translation, level " level, reach " " penalty, \
			"random accesses over more than " bytes(value(reach)) " pay " time(penalty) " more per access.")
	}
	near = "gpu.cluster.latency[distance=1]"
	state_rule("Neighbours in a cluster", near " gpu.l2.latency gpu.shared.latency", \
		"a load from another block's shared memory takes " over("%.2f", near, "gpu.l2.latency") " of one from L2 and " \
		over("%.1f", near, "gpu.shared.latency") " of one from own shared memory.")
}

function saturation(   engine, i, name) {
	split("plain loads,asynchronous copies,bulk copies", engine, ",")
	for (i = 1; i <= 3; i++) {
		name = "gpu.saturation.dram.bytes_per_sm[engine=" i "]"
		if (value(name) != "")
			state_rule("Bytes in flight as measured, " engine[i], name, \
				"90 % of the DRAM read rate needs " bytes(value(name)) " in flight on every SM.")
	}
	state_rule("SMs that saturate DRAM", "gpu.saturation.dram.sms gpu.sm.count", significant(value("gpu.saturation.dram.sms"), 3) " of " \
		sm_count() " reach 90 % of the read rate; the others are free for arithmetic.")
	name = "gpu.loaded.dram.latency[load=0.8]"
	state_rule("Latency under load", name " gpu.dram.latency", \
		"at 80 % of the DRAM rate a load takes " over("%.2f", name, "gpu.dram.latency") " times as long as on an idle chip.")
}

function conflicts(   one, many, counter) {
	many = "gpu.bank.saturated.load[ways=32,width=4]"
	one = "gpu.bank.saturated.load[ways=1,width=4]"
	state_rule("Bank conflicts on a saturated SM", many " " one, \
		"a 32-way conflict costs " over("%.1f", many, one) " conflict-free accesses.")
	state_rule("Bank conflicts of one warp alone", "gpu.bank.alone.way gpu.shared.latency", \
		"each further way adds " time("gpu.bank.alone.way") ", " share("gpu.bank.alone.way", "gpu.shared.latency") \
		" % of the latency of a load; a few ways do not matter there.")
	counter = "gpu.atomic.global.saturated.red_u32[stride_bytes=0]"
	state_rule("Counters", counter " gpu.atomic.global.alone.u32", \
		"atomics of all SMs on one word pass at one per " with_unit(value(counter) / 32, "s") " (a warp's 32 add " time(counter) \
		"); one round trip alone takes " time("gpu.atomic.global.alone.u32") ".")
}

function arithmetic(   i, name, at) {
	if (have("Independent operations", "gpu.fma.s.latency gpu.fma.s.rate gpu.sm.count gpu.clock.sm"))
		state_rule("Independent operations", "gpu.fma.s.latency gpu.fma.s.rate gpu.sm.count gpu.clock.sm", sprintf("an SM needs %.0f warp-wide" \
			" FMAs in flight for its single-precision peak, warps times independent chains of each.", \
			value("gpu.fma.s.latency") * value("gpu.fma.s.rate") / 64 / sm_count()))
	state_rule("Tensor cores", "gpu.wgmma.tf32.rate gpu.fma.s.rate", "tf32 products run at " over("%.1f", "gpu.wgmma.tf32.rate", "gpu.fma.s.rate") \
		" times the single-precision FMA peak, so up to " over("%d", "gpu.wgmma.tf32.rate", "gpu.fma.s.rate") \
		" of them may stand for one in single precision.")
	state_rule("Double precision", "gpu.mma.d16.rate gpu.fma.d.rate", \
		"the tensor cores reach " over("%.2f", "gpu.mma.d16.rate", "gpu.fma.d.rate") " times the FMA rate.")
	state_rule("Sustained arithmetic", "gpu.fma.s.sustained gpu.fma.s.rate", \
		"two seconds of FMA keep " share("gpu.fma.s.sustained", "gpu.fma.s.rate") " % of the burst rate.")
	split("fma.d mma.d16 wgmma.tf32 wgmma.bf16", name, " ")
	for (i = 1; i <= 4; i++) {
		at = "gpu." name[i]
		if (value(at ".sustained") != "")
			state_rule("Sustained arithmetic, " name[i], at ".sustained " at ".rate " at ".sustained_clock", \
				"two seconds keep " share(at ".sustained", at ".rate") " % of the burst rate, at " \
				significant(value(at ".sustained_clock") / 1e9, 3) " GHz.")
	}
}

# The rank from which an update of the largest square reaches half, and 80 %, of the library's best.
function block_sizes(precision,   i, name, n, k, peak, rate, half, most) {
	peak = "gpu.gemm." precision ".peak"
	n = argument(widest("gpu.gemm." precision, "n", ""), "n")
	if (!have("Rank of an update (" precision ")", peak) || n == "")
		return
	for (i = 1; i <= P["rows"]; i++) {
		name = P[i, "parameter"]
		k = argument(name, "k")
		if (base_of[i] != "gpu.gemm." precision || argument(name, "n") != n || argument(name, "m") != n || value(name) == "")
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

function sharing() {
	state_rule("Copies beside kernels", "gpu.overlap.h2d gpu.overlap.d2h", percent(value("gpu.overlap.h2d"), "%.0f") " % of a copy to the device and " \
		percent(value("gpu.overlap.d2h"), "%.0f") " % of one to the host overlap with a kernel that computes.")
	if (have("Queue depth", "gpu.queue.depth gpu.launch.enqueue gpu.launch.dependent"))
		state_rule("Queue depth", "gpu.queue.depth", "a stream takes " significant(value("gpu.queue.depth"), 4) \
			" launches; the host may run ahead by that much, then it waits.")
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
			(latency == "" ? "; the latency of a load is not resolved." : " at " with_unit(latency, "s") " a load.") \
			rests(name ".size" (latency == "" ? "" : " " name ".latency")))
	}
}
