# SPDX-License-Identifier: MIT
# The report's design rules, from the profile's numbers, as markup.
#   awk -v data=DIR -v parts="gpu host" -v nb=N -f common.awk -f rules_chip.awk -f rules.awk
# Every rule names the parameters that it rests on; without one of them it says "not measured here".

# Whether all parameters are there; else names the missing ones.
function have(rule, list,   n, name, i, missing) {
	n = split(list, name, " ")
	for (i = 1; i <= n; i++)
		if (value(name[i]) == "")
			missing = missing (missing == "" ? "" : ", ") name[i]
	if (missing != "")
		item(rule ": not measured here (lacks " missing ").")
	return missing == ""
}
function rests(list,   n, name, i, text) {
	n = split(list, name, " ")
	for (i = 1; i <= n; i++)
		text = text (i > 1 ? "; " : "") cited(name[i])
	return " [" text "]"
}
# A rule that rests on parameters.
function state_rule(name, list, text) {
	if (have(name, list))
		item(name ": " text rests(list))
}
function bytes(x) { return with_unit(x, "B") }
function time(name) { return with_unit(value(name), P[row_of[name], "unit"]) }
# The ratio of two parameters, where both are there.
function over(format, name, other) {
	return value(name) == "" || value(other) == "" ? "" : sprintf(format, value(name) / value(other))
}
function share(name, other) { return over("%.0f", name, other) == "" ? "" : percent(value(name) / value(other), "%.0f") }

# ---- the ladder ----

function rung(title, name,   t) {
	t = value(name)
	if (name == "" || t == "") {
		table_row("few", title "|not measured here|||||")
		return
	}
	table_row(P[row_of[name], "status"] == "ok" ? "" : P[row_of[name], "status"], title "|" with_unit(t, "s") "|" \
		(launch == "" ? "-" : sprintf("%.2f", t / launch)) "|" (dram == "" ? "-" : bytes(t * dram)) "|" \
		(link == "" ? "-" : bytes(t * link)) "|" name)
}
function ladder(   sms) {
	sms = sm_count() ? sm_count() : 1e9
	table_start("ladder", "Cost of launches, barriers and loads, and the traffic that fits into that time", \
		"<operation|>time|>per launch|>DRAM copy|>pinned h2d|!<parameter")
	rung("launch, round trip to the host", "gpu.launch.sync")
	rung("launch, host enqueue", "gpu.launch.enqueue")
	rung("launch, long sequence", "gpu.launch.stream")
	rung("cooperative launch, device", "gpu.launch.cooperative")
	rung("dependent launch, device", "gpu.launch.dependent")
	rung("programmatic dependent launch", "gpu.launch.pdl")
	rung("graph node, device", "gpu.launch.graph_node")
	rung("cooperative grid.sync()", nearest("gpu.barrier.grid", "blocks", sms, "threads=256"))
	rung("grid barrier, counter", grid_barrier())
	rung("grid barrier, master", nearest("gpu.barrier.master", "blocks", sms, "threads=256"))
	rung("cluster barrier, widest", widest("gpu.barrier.cluster", "blocks", ""))
	rung("128 bytes to a whole cluster", widest("gpu.exchange.cluster", "blocks", ""))
	rung("block barrier", nearest("gpu.barrier.block", "threads", 256, ""))
	rung("block maximum with index", nearest("gpu.reduce.max", "threads", 256, ""))
	rung("load from DRAM", "gpu.dram.latency")
	rung("load from L2", "gpu.l2.latency")
	rung("load from shared memory", "gpu.shared.latency")
	table_end()
}

# ---- single rules ----

function half_length(   x) {
	if (!have("Half-length of a kernel", "gpu.launch.dependent gpu.dram.copy"))
		return
	x = launch * dram
	item("Half-length of a kernel: a dependent kernel that moves less than n_half = " bytes(x) " of DRAM traffic (" \
		significant(x / 8, 3) " single-precision numbers read and written) spends more time starting than moving." \
		rests("gpu.launch.dependent gpu.dram.copy"))
	if (value("gpu.copy.n_half") != "")
		item("The line fitted to cold copies of all sizes gives n_half = " bytes(value("gpu.copy.n_half")) "." \
			rests("gpu.copy.n_half gpu.copy.alpha gpu.copy.beta"))
	if (value("gpu.l2.copy") != "")
		item("Out of a warm L2 n_half is " bytes(launch * value("gpu.l2.copy")) "." rests("gpu.l2.copy"))
}

function worth(   list) {
	list = "gpu.launch.dependent gpu.dram.copy"
	if (!have("Cost of a launch", list))
		return
	item("Cost of a launch: as much time as " bytes(launch * dram) " of DRAM traffic" \
		(link == "" ? "" : " or " bytes(launch * link) " over the link to the host") ", or as updating " \
		significant(launch * dram / 8 / 8192, 3) " columns of 8192 single-precision rows (read and written)." rests(list))
	list = barrier == "" ? "gpu.barrier.counter" : barrier
	if (have("Cost of a grid barrier", list))
		item("Cost of a grid barrier: as much time as " bytes(value(barrier) * dram) " of DRAM traffic" \
			(link == "" ? "" : " or " bytes(value(barrier) * link) " over the link") ", or as " \
			significant(value(barrier) * dram / 8 / 8192, 3) " such columns." rests(list))
}

function fuse(   list, t, saved, extra) {
	list = "gpu.launch.dependent gpu.dram.copy " (barrier == "" ? "gpu.barrier.counter" : barrier)
	if (!have("When to fuse", list))
		return
	t = value(barrier)
	saved = launch - t
	if (saved <= 0) {
		item("When to fuse: a grid barrier is no cheaper than a dependent launch here; fuse to keep data on chip, not to save " \
			"launches." rests(list))
		return
	}
	item("When to fuse: each launch replaced by a grid barrier saves " with_unit(saved, "s") " (" percent(saved / launch, "%.0f") \
		" % of a launch)" (launch > 1.1 * t ? "; that speeds up a step by over 10 % while it moves less than " \
		bytes((launch - 1.1 * t) / 0.1 * dram) " of DRAM traffic" : ", which speeds up no step by 10 %") \
		(launch > 2 * t ? " and by over 2x while less than " bytes((launch - 2 * t) * dram) : "") "." rests(list))
	extra = value("gpu.launch.cooperative") == "" ? "" : value("gpu.launch.cooperative") - launch
	if (extra != "" && extra < 0.01 * launch)
		item("A cooperative launch costs no more on the device than a plain one." rests("gpu.launch.cooperative"))
	else if (extra != "")
		item("A cooperative launch costs " with_unit(extra, "s") " more on the device than a plain one: paid back after " \
			plural(int(extra / saved) + 1, "barrier") "." rests("gpu.launch.cooperative"))
	if (value("gpu.launch.graph_node") != "")
		item("Where a sequence is known beforehand, a CUDA graph turns each launch into " \
			with_unit(value("gpu.launch.graph_node"), "s") \
			sprintf(" (%.2f of a dependent launch, %.2f grid barriers).", value("gpu.launch.graph_node") / launch, \
			value("gpu.launch.graph_node") / t) rests("gpu.launch.graph_node"))
}

function queueing(   list, gap) {
	list = "gpu.launch.enqueue gpu.launch.dependent gpu.dram.copy"
	if (!have("Bottleneck of short kernels", list))
		return
	gap = value("gpu.launch.enqueue") - launch
	if (gap > 0)
		item("Bottleneck of short kernels: the host enqueues slower than the device starts kernels. A sequence of " \
			"kernels that move less than " bytes(gap * dram) " each runs at the host's rate: graphs or fusion help, faster kernels do not." rests(list))
	else
		item("Bottleneck of short kernels: the device, since the host enqueues faster than dependent kernels start." rests(list))
	if (value("gpu.cublas.iamax[bytes=128]") != "")
		item("A library call that returns a number to the host costs " significant(value("gpu.cublas.iamax[bytes=128]") / launch, 3) \
			" launches: one per column takes " with_unit(64 * value("gpu.cublas.iamax[bytes=128]"), "s") " in a panel of 64." \
			rests("gpu.cublas.iamax[bytes=128]"))
	if (value("gpu.cublas.gemm") != "")
		item("A product by the library costs the host " significant(value("gpu.cublas.gemm") / value("gpu.launch.enqueue"), 3) \
			" launches of a kernel: the device waits for the host where it takes less than " \
			with_unit(value("gpu.cublas.gemm"), "s") "." rests("gpu.cublas.gemm gpu.launch.enqueue"))
}

function transfers() {
	state_rule("Bytes in flight", "gpu.dram.latency gpu.dram.read gpu.sm.count", "to read DRAM at the full rate every SM needs at least " \
		bytes(value("gpu.dram.latency") * value("gpu.dram.read") / (sm_count() ? sm_count() : 1)) " of loads in flight (Little's law).")
	state_rule("Transfers", "link.h2d.pinned.alpha link.h2d.pinned.beta", "a message to the device below " \
		bytes(value("link.h2d.pinned.alpha") * link) " costs mostly start-up; batch smaller ones.")
	state_rule("Pinned memory", "link.h2d.pinned.beta link.h2d.pageable.beta", \
		over("%.1f", "link.h2d.pinned.beta", "link.h2d.pageable.beta") "x the rate of pageable memory to the device.")
}

# ---- CPU or GPU panel: by the predictions, and by the measurements where there are ----

function best_gpu(T, i,   j, best) {
	for (j = 1; j <= T["rows"]; j++)
		if (usable(T, j) && T[j, "m"] == T[i, "m"] && T[j, "n"] == T[i, "n"] && T[j, "variant"] != "host" && \
			T[j, "variant"] != "cusolver" && (best == "" || T[j, "seconds"] + 0 < T[best, "seconds"] + 0))
			best = j
	return best
}
function usable(T, i) {
	return T[i, "executor"] == "cuda" && T[i, "operation"] == "panel_getrf" && T[i, "precision"] == "s" && \
		T[i, "options"] !~ /phase=|level=/ && is_number(T[i, "seconds"])
}
function choice(file, how,   T, i, j, n, order, gpu, from, variant, list) {
	load(file, T)
	for (i = 1; i <= T["rows"]; i++) {
		if (!usable(T, i) || T[i, "variant"] != "host" || T[i, "n"] != nb || best_gpu(T, i) == "")
			continue
		for (j = n++; j > 0 && T[order[j], "m"] + 0 > T[i, "m"] + 0; j--)
			order[j + 1] = order[j]
		order[j + 1] = i
	}
	if (!n) {
		item("CPU panel, " how ": not measured here.")
		return
	}
	for (i = n; i > 0; i--) { # from the largest down while the GPU wins
		gpu = best_gpu(T, order[i])
		if (T[gpu, "seconds"] + 0 >= T[order[i], "seconds"] + 0)
			break
		from = T[order[i], "m"]
		variant = T[gpu, "variant"]
		list = with_unit(T[gpu, "seconds"], "s") " against " with_unit(T[order[i], "seconds"], "s")
	}
	if (from == "")
		item("CPU panel, " how ": yes; copying out, factorizing on the CPU and copying back wins at the largest m = " \
			T[order[n], "m"] " x " nb ".")
	else if (i == 0)
		item("CPU panel, " how ": no; the GPU wins from the smallest m = " from " x " nb " on (" variant ", " list ").")
	else
		item("CPU panel, " how ": only below m = " from " at n = " nb "; from there on the GPU wins (" variant ", " list \
			" there; at m = " T[order[i], "m"] " the CPU still wins).")
}

function host_rules(   fork) {
	fork = widest("host.parallel.fork", "threads", "")
	if (have("Parallel regions on the host", (fork == "" ? "host.parallel.fork" : fork) " host.memory.copy.peak"))
		item("Parallel regions on the host: opening one costs as much time as " bytes(value(fork) * value("host.memory.copy.peak")) \
			" of memory traffic at the full rate; keep smaller loops serial." rests(fork " host.memory.copy.peak"))
}

BEGIN {
	if (!read_profile(data "/profile.tsv")) {
		paragraph("No profile in " data ": nothing can be derived.")
		exit
	}
	launch = value("gpu.launch.dependent")
	dram = value("gpu.dram.copy")
	link = value("link.h2d.pinned.beta")
	barrier = grid_barrier()
	if (parts ~ /gpu/) {
		ladder()
		half_length()
		worth()
		fuse()
		queueing()
		transfers()
		chip_rules()
		choice(data "/predictions.tsv", "as predicted")
		choice(data "/measurements.tsv", "as measured")
	}
	if (parts ~ /host/) {
		host_rules()
		cache_rules_host()
	}
}
