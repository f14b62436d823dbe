# SPDX-License-Identifier: MIT
# The measurements of LAWN 202's section 3 beside this machine's, from the profile, as markup:
#   awk -v data=DIR -v papers=data/papers -f common.awk -f lawn_probes.awk
# Prints nothing without a GPU's profile.

# A number of the paper, or both ends of its range, NAME_low and NAME_high.
function theirs(key,   name) {
	name = LAWN_GPU "." key
	return name "_low" in paper ? paper[name "_low"] " .. " paper[name "_high"] : name in paper ? paper[name] : "-"
}
# key: of the paper's number, or a number; ours: in the unit, "" when it is not known.
function row(part, what, unit, key, ours) {
	if (ours != "" || key !~ /^[0-9.]/)
		table_row("", part "|" what "|" unit "|" (key ~ /^[0-9.]/ ? key : theirs(key)) "|" (ours == "" ? "not resolved" : significant(ours, 3)))
}
function times(x, factor) { return x == "" ? "" : x * factor }
function over(x, y) { return x == "" || y == "" ? "" : x / y }
function cycles(name) { return times(value(name), value("gpu.clock.sm")) }
function stride(s) { return times(value("gpu.copy.stride[words=262144,stride=" s "]"), 1e-9) }
function fed(name) { return times(value("gpu.fma.fed." name "[width=4]"), 100) }
function load_of(ways) { return value("gpu.bank.saturated.load[ways=" ways ",width=4]") }
function conflict(ways) { return over(load_of(ways), load_of(1)) }
function probes(   fma, master, pins, copy, start) {
	fma = value("gpu.fma.s.rate")
	master = nearest("gpu.barrier.master", "blocks", sm_count(), "threads=256")
	pins = head_of(data "/copy.tsv", "pin_bytes_per_second")
	copy = value("gpu.dram.copy")
	start = value("gpu.launch.dependent")
	row("3.1", "a launch in a stream of launches", "us", "launch_async", times(value("gpu.launch.stream"), 1e6))
	row("3.1", "  of it on the device", "us", "5", times(start, 1e6))
	row("3.1", "a launch and a wait for its end", "us", "launch_sync", times(value("gpu.launch.sync"), 1e6))
	row("3.2", "transfer to the GPU, pinned: alpha", "us", "transfer_alpha", times(value("link.h2d.pinned.alpha"), 1e6))
	row("3.2", "  beta", "GB/s", "transfer_beta", times(value("link.h2d.pinned.beta"), 1e-9))
	row("3.3", "L1", "KB", "l1_size", times(value("gpu.l1.size"), 1e-3))
	row("3.3", "  line", "bytes", "line", value("gpu.l1.line"))
	row("3.3", "  ways", "ways", "l1_associativity", value("gpu.l1.ways"))
	row("3.3", "  latency", "cycles", "l1_hit_latency", cycles("gpu.l1.latency"))
	row("3.3", "L2", "KB", "l2_size", times(value("gpu.l2.size"), 1e-3))
	row("3.3", "  ways", "ways", "l2_associativity", value("gpu.l2.ways"))
	row("3.3", "TLB: entries", "entries", "tlb_entries", value("gpu.tlb.entries[level=2]"))
	row("3.3", "  page", "KB", "page", times(value("gpu.tlb.page[level=2]"), 1e-3))
	row("3.3", "DRAM: latency", "cycles", "dram_latency", cycles("gpu.dram.latency"))
	row("3.3", "shared memory: latency", "cycles", "shared_latency", cycles("gpu.shared.latency"))
	row("3.3", "multiply-add: latency", "cycles", "fma_latency", cycles("gpu.fma.s.latency"))
	row("3.4", "multiply-adds: of the peak", "%", "98", times(over(fma, units(fma)), 100))
	row("3.5", "  an operand from shared memory", "%", "66", fed("broadcast"))
	row("3.5", "  with conflicts of 2 ways", "%", "33", fed("conflict"))
	row("3.5", "bank conflict of 2 ways", "times", "2", conflict(2))
	row("3.5", "  of 4 ways", "times", "4", conflict(4))
	row("3.6", "barrier over the grid, no atomics", "us", "barrier", times(value(master), 1e6))
	row("3.6", "  in cycles", "cycles", "barrier_cycles", cycles(master))
	row("3.6", "  by an atomic counter", "us", "-", times(value(grid_barrier()), 1e6))
	row("3.7", "copy in device memory", "GB/s", "copy_bandwidth", times(copy, 1e-9))
	row("3.7", "  of the rate of the pins", "%", "88", pins > 0 ? times(copy, 100 / pins) : "")
	row("3.7", "  misaligned by 4 bytes", "times slower", "misaligned_slowdown", over(value("gpu.copy.misaligned[offset=64]"), value("gpu.copy.misaligned[offset=4]")))
	row("3.7", "copy of 2^18 words, stride 1", "GB/s", "62", stride(1))
	row("3.7", "  stride 8", "GB/s", "8.1", stride(8))
	row("3.7", "  stride 512", "GB/s", "0.81", stride(512))
	row("3.8", "sscal by eq. (2): half its rate at", "elements", "sscal_n_half", over(times(copy, start), 8))
}
BEGIN {
	read_paper("volkov2008")
	if (!read_profile(data "/profile.tsv") || value("gpu.launch.dependent") == "")
		exit
	table_start("lawn-probes", "Probes of the hardware (LAWN 202, section 3)", "<section|<quantity|<unit|>" LAWN_NAME "|>this GPU")
	probes()
	table_end("An L1 of the 8800GTX serves two multiprocessors. Of the TLB this GPU's second level is shown. The paper's operand" \
		" comes with the instruction; here a load brings it, which all lanes share.")
}
