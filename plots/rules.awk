# SPDX-License-Identifier: MIT
# Design rules, from the profile's numbers and their intervals. plots/rules.sh runs it:
#   awk -v data=DIR -v parts="gpu host" -v nb=N -v rules=plots/rules.tsv -v rules_as=both|table -v rules_table=FILE -f common.awk -f rules.awk
# Every rule names the parameters that it rests on. Where one is missing the markup says "not measured here". A rule is silent when
# its condition does not hold beyond the intervals, or a number of its text is not known to a factor of 2.
#
# A row of rules.tsv is a rule. part: where it stands. when: all of NAME (is known), "!NAME" (is not), and "A<B": the interval of the
# expression A ends before that of B begins. name: its heading. parameters: those that it rests on. gain: the factor in time that
# following it gains, an expression or nothing. text: with {FORMAT EXPRESSION|BEFORE|AFTER}, of which nothing stands where the number
# is not known or, with BEFORE, not over 0; a number alone has to be known. The first one is followed by its interval. EXPRESSION:
# sums, differences, products and quotients of parameters and numbers, without brackets. FORMAT: of printf, a number of digits, a
# unit; "%" alone: percent; "^": rounded up; none: the parameter's own unit. GRID_BARRIER, CLUSTER_BARRIER, FORK and TEAM_BARRIER are
# the parameters of the widest barrier and team, BLOCK_BARRIER that of the block nearest to 256 threads (BLOCK_THREADS), URGENT that
# of the highest priority; a row with LEVEL stands for each level of the TLB.

# Whether all parameters are there; else names the missing ones.
function have(name, list,   n, part, i, missing) {
	n = split(list, part, " ")
	for (i = 1; i <= n; i++)
		if (value(part[i]) == "")
			missing = missing (missing == "" ? "" : ", ") part[i]
	if (missing != "" && rules_as != "table")
		item(name ": not measured here (lacks " missing ").")
	return missing == ""
}
function bytes(x) { return with_unit(x, "B") }

# ---- expressions: their value in X, "" where a parameter is missing, and its interval in X_low .. X_high ----

# One factor: its value, and its relative distances to both ends in F_down and F_up.
function factor_of(text,   row, v) {
	F_down = F_up = 0
	if (is_number(text))
		return text + 0
	v = value(text)
	if (v == "" || v == 0)
		return v
	row = row_of[text]
	if (is_number(P[row, "low"]))
		F_down = magnitude((v - P[row, "low"]) / v)
	if (is_number(P[row, "high"]))
		F_up = magnitude((P[row, "high"] - v) / v)
	return v
}
# Relative distances of factors add in quadrature.
function product(text,   n, factor, i, v, at, divide, down, up) {
	n = split(text, factor, /[*\/]/)
	X = 1
	down = up = 0
	for (i = 1; i <= n; i++) {
		v = factor_of(factor[i])
		if (v == "" || (divide && v == 0))
			return X = ""
		X = divide ? X / v : X * v
		down += divide ? F_up * F_up : F_down * F_down
		up += divide ? F_down * F_down : F_up * F_up
		at += length(factor[i]) + 1
		divide = substr(text, at, 1) == "/"
	}
	X_low = X * (1 - root(down))
	X_high = X * (1 + root(up))
	return X
}
# Distances of terms do, too.
function evaluate(text,   n, term, i, at, minus, sum, down, up) {
	n = split(text, term, /[-+]/)
	if (n == 1)
		return product(text)
	sum = down = up = 0
	for (i = 1; i <= n; i++) {
		if (product(term[i]) == "")
			return X = ""
		sum += minus ? -X : X
		down += minus ? (X_high - X) * (X_high - X) : (X - X_low) * (X - X_low)
		up += minus ? (X - X_low) * (X - X_low) : (X_high - X) * (X_high - X)
		at += length(term[i]) + 1
		minus = substr(text, at, 1) == "-"
	}
	X_low = sum - root(down)
	X_high = sum + root(up)
	return X = sum
}
# Whether the interval of A ends before that of B begins.
function is_less(a, b,   high) {
	if (evaluate(a) == "")
		return 0
	high = X_high
	return evaluate(b) != "" && high < X_low
}
function is_due(when,   n, term, i, side) {
	n = split(when, term, " ")
	for (i = 1; i <= n; i++)
		if (split(term[i], side, "<") == 2 ? !is_less(side[1], side[2]) : sub(/^!/, "", term[i]) ? value(term[i]) != "" : \
			value(term[i]) == "")
			return 0
	return 1
}

# ---- rules.tsv ----

function shown(x, format) {
	return format == "%" ? percent(x, "%.0f") : format == "^" ? sprintf("%d", int(x) < x ? x + 1 : x) : format ~ /^%/ ? sprintf(format, x) : format ~ /^[0-9]/ ? significant(x, format) : \
		with_unit(x, format)
}
# Both ends in the form of the number, where they differ in it.
function ends(format,   end) {
	split(format ~ /^[%^0-9]/ ? shown(X_low, format) " .. " shown(X_high, format) : interval(X_low, X_high, X, format), end, / \.\. /)
	return end[1] == end[2] ? "" : " (" end[1] " .. " end[2] ")"
}
# Whether the interval's ends are within a factor of 2.
function is_known() { return X_low < 0 ? X_low >= 2 * X_high : X_high <= 2 * X_low }
# One piece of a text; a number that has to stand there and is not known makes a hole. The first number of a rule is kept in first_*.
function filled(text,   part, n, word, format, text_of_number) {
	split(text, part, "|")
	n = split(part[1], word, " ")
	format = n > 1 ? word[1] : P[row_of[word[n]], "unit"]
	if (evaluate(word[n]) == "" || !is_known()) {
		hole += part[2] part[3] == ""
		return ""
	}
	if (part[2] != "" && X <= 0)
		return ""
	text_of_number = shown(X, format)
	if (first_value == "") {
		first_value = X
		first_low = X_low
		first_high = X_high
		first_unit = format ~ /^[%^0-9]/ || format == "" ? "ratio" : format
		text_of_number = text_of_number ends(format)
	}
	return part[2] text_of_number part[3]
}
function state_row(part, when, name, list, gain, text,   at, end, out) {
	if (!is_due(when) || !have(name, list))
		return
	first_value = ""
	hole = 0
	while ((at = index(text, "{")) > 0) {
		end = index(text, "}")
		out = out substr(text, 1, at - 1) filled(substr(text, at + 1, end - at - 1))
		text = substr(text, end + 1)
	}
	if (hole)
		return
	if (gain == "" || evaluate(gain) == "")
		X = X_low = X_high = ""
	rule_item(part, name, out text, list)
}
function state_rules(part,   line, cell, level, text, levels) {
	levels = argument(widest("gpu.tlb.penalty", "level", ""), "level")
	while ((getline line <rules) > 0)
		for (level = 1; index(line, part "\t") == 1 && level <= (line ~ /LEVEL/ ? levels : 1); level++) {
			text = line
			gsub(/LEVEL/, level, text)
			gsub(/BLOCK_BARRIER/, block == "" ? "gpu.barrier.block" : block, text)
			gsub(/BLOCK_THREADS/, argument(block, "threads"), text)
			gsub(/GRID_BARRIER/, barrier == "" ? "gpu.barrier.counter" : barrier, text)
			gsub(/CLUSTER_BARRIER/, cluster == "" ? "gpu.barrier.cluster" : cluster, text)
			gsub(/TEAM_BARRIER/, team == "" ? "host.parallel.barrier" : team, text)
			gsub(/URGENT/, urgent == "" ? "gpu.priority.delay" : urgent, text)
			gsub(/FORK/, fork == "" ? "host.parallel.fork" : fork, text)
			split(text, cell, "\t")
			state_row(cell[1], cell[2], cell[3], cell[4], cell[5], cell[6])
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
	rung("block maximum with index", nearest("gpu.reduce.max", "threads", 256, ""))
	rung("flag from SM to SM", "gpu.flag.sm_to_sm")
	rung("load from DRAM", "gpu.dram.latency")
	rung("load from L2", "gpu.l2.latency")
	rung("load from shared memory", "gpu.shared.latency")
	table_end()
}

# ---- rules that search the profile ----

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
		plain_rule("arithmetic", "Rank of an update (" precision ")", "the library's gemm reaches half of its best rate from k = " half \
			(most == "" ? "" : " and 80 % from k = " most) " on (m = n = " n ").", peak)
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
	how = "CPU panel, as " kind
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
	if (!n && rules_as != "table")
		item(how ": not measured here.")
	else if (!n)
		return
	else if (from == "")
		plain_rule("factor", how, "yes; copying out, factorizing on the CPU and copying back wins at the largest m = " m[order[1]] " x " nb ".", "")
	else if (j > n)
		plain_rule("factor", how, "no; the GPU wins from the smallest m = " from " x " nb " on (" variant ", " list ").", "")
	else
		plain_rule("factor", how, "only below m = " from " at n = " nb "; from there on the GPU wins (" variant ", " list \
			" there; at m = " m[order[j]] " the CPU still wins).", "")
}

function cache_rules_host(   level, name, latency, stated) {
	for (level = 1; level <= 4; level++) {
		name = "host.l" level
		latency = value(name ".latency")
		stated = value(name ".stated")
		if (level > 3 && stated == "" || !have("Host cache, level " level, name ".size"))
			continue
		plain_rule("host", "Host cache, level " level, bytes(value(name ".size")) \
			(stated == "" ? "" : " (stated: " bytes(stated) ")") \
			(latency == "" ? "; the latency of a load is not resolved." : " at " with_unit(latency, "s") " a load."), \
			name ".size" (latency == "" ? "" : " " name ".latency"))
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
	block = nearest("gpu.barrier.block", "threads", 256, "")
	cluster = widest("gpu.barrier.cluster", "blocks", "")
	urgent = widest("gpu.priority.delay", "priority", "")
	if (parts ~ /gpu/) {
		if (rules_as != "table")
			ladder()
		state_rules("launch")
		state_rules("memory")
		state_rules("link")
		state_rules("arithmetic")
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
