# SPDX-License-Identifier: MIT
# The sentences that read the figures of the chapters on hardware, as lines "chapter<TAB>text":
#   awk -v data=DIR -f common.awk -f reads.awk
# A sentence is left out where a parameter of it is missing.
function v(name) {
	if (value(name) == "")
		known = 0
	return with_unit(value(name), P[row_of[name], "unit"]) (noisy(name) ? " (noisy)" : "")
}
function product(one, other, unit) { return with_unit(value(one) * value(other), unit) }
function times(one, other, format) { return value(one) == "" || !(value(other) > 0) ? "" : sprintf(format, value(one) / value(other)) }
function say(chapter, text) {
	if (known)
		print chapter "\t" text
	known = 1
}
BEGIN {
	known = 1
	read_profile(data "/profile.tsv")
	barrier = grid_barrier()
	block = nearest("gpu.barrier.block", "threads", 256, "")
	fork = widest("host.parallel.fork", "threads", "")
	team = widest("host.parallel.barrier", "threads", "")
	say("start", "The device starts a dependent kernel every " v("gpu.launch.dependent") ". Its memory copies " \
		product("gpu.launch.dependent", "gpu.dram.copy", "B") " in that time, at " v("gpu.dram.copy") ".")
	say("start", "The host enqueues one every " v("gpu.launch.enqueue") ": " (value("gpu.launch.enqueue") > value("gpu.launch.dependent") ? \
		"a sequence of short kernels waits for the host." : "the device is the slower part."))
	say("start", "In a graph a kernel starts every " v("gpu.launch.graph_node") ", " times("gpu.launch.graph_node", "gpu.launch.dependent", "%.2f") \
		" of a dependent launch.")
	say("memory", "A load takes " v("gpu.l1.latency") " from L1, " v("gpu.l2.latency") " from L2 and " v("gpu.dram.latency") " from memory.")
	say("memory", "A copy runs at " v("gpu.dram.copy") ", read and written together; it reaches half of that rate from " v("gpu.copy.n_half") " on.")
	say("inside", "A barrier over the grid takes " v(barrier) ", as long as " times(barrier, block, "%.0f") " barriers of a block (" v(block) ") or " \
		times(barrier, "gpu.launch.dependent", "%.2f") " dependent launches.")
	say("inside", "A load from L2 (" v("gpu.l2.latency") ") lasts as long as " times("gpu.l2.latency", "gpu.fma.s.latency", "%.0f") \
		" dependent multiply-adds (" v("gpu.fma.s.latency") ").")
	say("links", "A transfer to the GPU starts in " v("link.h2d.pinned.alpha") " and then moves " v("link.h2d.pinned.beta") ": below " \
		product("link.h2d.pinned.alpha", "link.h2d.pinned.beta", "B") " it is mostly start-up.")
	say("links", "From pageable memory it moves " v("link.h2d.pageable.beta") ", " times("link.h2d.pageable.beta", "link.h2d.pinned.beta", "%.2f") \
		" of the rate of pinned memory.")
	say("instructions", "The units issue " v("gpu.fma.s.rate") " of single-precision multiply-adds; the library's product reaches " \
		v("gpu.gemm.s.peak") ", " times("gpu.gemm.s.peak", "gpu.fma.s.rate", "%.2f") " of it.")
	say("instructions", "Tensor cores issue " v("gpu.mma.bf16.rate") " in BF16 by warps" (value("gpu.wgmma.bf16.rate") == "" ? "" : \
		", " v("gpu.wgmma.bf16.rate") " by warpgroups") ".")
	say("host", "A parallel region of " argument(fork, "threads") " threads takes " v(fork) ", a barrier of them " v(team) ".")
	say("host", "A copy in the host's memory runs at " v("host.memory.copy.peak") ", read and written together; a region lasts as long as " \
		product(fork, "host.memory.copy.peak", "B") " of it.")
}
