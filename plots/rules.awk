# SPDX-License-Identifier: MIT
# The report's design rules, from the profile's numbers, as markup.
#   awk -v data=DIR -v parts="gpu host" -v nb=N -v rules=plots/rules.tsv -f common.awk -f rules.awk
# Every rule names the parameters that it rests on; without one of them it says "not measured here".
#
# A row of rules.tsv is a rule. part: where it stands. when: parameters that have to be known; "!NAME": unknown; "NAME>1": over 1;
# "NAME<NAME": the interval of the first ends before that of the second begins.
# name: its heading, may be empty. parameters: those that it rests on. text: with {FORMAT EXPRESSION|BEFORE|AFTER}, of which nothing
# stands where a parameter is missing. EXPRESSION: a product or quotient of parameters and numbers. FORMAT: of printf, a number of
# digits, a unit; "%" alone: percent; none: the parameter's own unit. GRID_BARRIER, FORK and TEAM_BARRIER are the parameters of the
# widest barrier and team, URGENT that of the highest priority; a row with LEVEL stands for each level of the TLB.

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
function bytes(x) { return with_unit(x, "B") }

# ---- rules.tsv ----

function is_less(one, other) {
	return value(one) != "" && value(other) != "" && is_number(P[row_of[one], "high"]) && is_number(P[row_of[other], "low"]) && \
		P[row_of[one], "high"] + 0 < P[row_of[other], "low"] + 0
}
function is_due(when,   n, term, i, side) {
	n = split(when, term, " ")
	for (i = 1; i <= n; i++)
		if (split(term[i], side, "<") == 2 ? !is_less(side[1], side[2]) : sub(/^!/, "", term[i]) ? value(term[i]) != "" : sub(/>1$/, "", term[i]) ? value(term[i]) <= 1 : value(term[i]) == "")
			return 0
	return 1
}
function result(expression,   n, factor, i, x, v, at, divide) {
	n = split(expression, factor, /[*\/]/)
	for (i = 1; i <= n; i++) {
		v = is_number(factor[i]) ? factor[i] + 0 : value(factor[i])
		if (v == "")
			return ""
		x = i == 1 ? v : divide ? x / v : x * v
		at += length(factor[i]) + 1
		divide = substr(expression, at, 1) == "/"
	}
	return x
}
function filled(text,   part, n, word, format, x) {
	split(text, part, "|")
	n = split(part[1], word, " ")
	x = result(word[n])
	format = n > 1 ? word[1] : P[row_of[word[n]], "unit"]
	return x == "" ? "" : part[2] (format == "%" ? percent(x, "%.0f") : format ~ /^%/ ? sprintf(format, x) : \
		format ~ /^[0-9]/ ? significant(x, format) : with_unit(x, format)) part[3]
}
function state_row(when, name, list, text,   at, end, out) {
	if (!is_due(when) || (name != "" && !have(name, list)))
		return
	while ((at = index(text, "{")) > 0) {
		end = index(text, "}")
		out = out substr(text, 1, at - 1) filled(substr(text, at + 1, end - at - 1))
		text = substr(text, end + 1)
	}
	item((name == "" ? "" : name ": ") out text rests(list))
}
function state_rules(part,   line, cell, level, text, levels) {
	levels = argument(widest("gpu.tlb.penalty", "level", ""), "level")
	while ((getline line <rules) > 0)
		for (level = 1; index(line, part "\t") == 1 && level <= (line ~ /LEVEL/ ? levels : 1); level++) {
			text = line
			gsub(/LEVEL/, level, text)
			gsub(/GRID_BARRIER/, barrier == "" ? "gpu.barrier.counter" : barrier, text)
			gsub(/TEAM_BARRIER/, team == "" ? "host.parallel.barrier" : team, text)
			gsub(/URGENT/, urgent == "" ? "gpu.priority.delay" : urgent, text)
			gsub(/FORK/, fork == "" ? "host.parallel.fork" : fork, text)
			split(text, cell, "\t")
			state_row(cell[2], cell[3], cell[4], cell[5])
		}
	close(rules)
}

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
	rung("launch to the host's sight of a flag", "gpu.flag.sync")
	rung("graph of one node, round trip to the host", "gpu.launch.graph_sync")
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
	rung("warp barrier", "gpu.barrier.warp")
	rung("block maximum with index", nearest("gpu.reduce.max", "threads", 256, ""))
	rung("flag from SM to SM", "gpu.flag.sm_to_sm")
	rung("load from DRAM", "gpu.dram.latency")
	rung("load from L2", "gpu.l2.latency")
	rung("load from shared memory", "gpu.shared.latency")
	table_end()
}

# ---- rules that compare ----

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

# ---- CPU or GPU panel: by the predictions, and by the measurements where there are ----

function best_gpu(terms,   n, list, j, best) {
	n = split(rows_with(terms), list, " ")
	for (j = 1; j <= n; j++)
		if (T[list[j], "variant"] !~ /^(host|cusolver)$/ && is_number(T[list[j], "seconds"]) && \
			(best == "" || T[list[j], "seconds"] + 0 < T[best, "seconds"] + 0))
			best = list[j]
	return best
}
function choice(kind,   terms, i, j, n, m, gpu, host, from, variant, list, how) {
	how = "CPU panel, as " kind ": "
	terms = "operation=panel_getrf executor=cuda precision=s phase= level= seed= kind=" kind " n=" nb
	for (i = numbers_of(terms " variant=host", "m", m); i > 0; i--)
		if ((host[i] = first_with(terms " variant=host m=" m[i], "seconds")) && best_gpu(terms " m=" m[i]) != "")
			order[++n] = i
	for (j = 1; j <= n; j++) { # from the largest down while the GPU wins
		i = order[j]
		gpu = best_gpu(terms " m=" m[i])
		if (T[gpu, "seconds"] + 0 >= T[host[i], "seconds"] + 0)
			break
		from = m[i]
		variant = T[gpu, "variant"]
		list = with_unit(T[gpu, "seconds"], "s") " against " with_unit(T[host[i], "seconds"], "s")
	}
	if (!n)
		item(how "not measured here.")
	else if (from == "")
		item(how "yes; copying out, factorizing on the CPU and copying back wins at the largest m = " m[order[1]] " x " nb ".")
	else if (j > n)
		item(how "no; the GPU wins from the smallest m = " from " x " nb " on (" variant ", " list ").")
	else
		item(how "only below m = " from " at n = " nb "; from there on the GPU wins (" variant ", " list \
			" there; at m = " m[order[j]] " the CPU still wins).")
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

BEGIN {
	if (!read_profile(data "/profile.tsv")) {
		paragraph("No profile in " data ": nothing can be derived.")
		exit
	}
	launch = value("gpu.launch.dependent")
	dram = value("gpu.dram.copy")
	link = value("link.h2d.pinned.beta")
	barrier = grid_barrier()
	fork = widest("host.parallel.fork", "threads", "")
	team = widest("host.parallel.barrier", "threads", "")
	urgent = widest("gpu.priority.delay", "priority", "")
	if (parts ~ /gpu/) {
		ladder()
		state_rules("launch")
		fuse()
		queueing()
		state_rules("chip")
		block_sizes("s")
		block_sizes("d")
		state_rules("sharing")
		load(data "/predictions.tsv", T, "predicted")
		load(data "/measurements.tsv", T, "measured")
		choice("predicted")
		choice("measured")
	}
	if (parts ~ /host/) {
		state_rules("host")
		cache_rules_host()
	}
}
