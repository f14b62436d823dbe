# SPDX-License-Identifier: MIT
# The report's first screen, as markup, in three parts:
#   awk -v part=numbers -v kind=gpu|host -v data=DIR -v others="DIR..." -f common.awk -f first.awk
#       eight numbers, each between the recorded machines (folders with a profile) and its limit
#   awk -v part=rules -v rules=FILE -v most=10 -f common.awk -f first.awk
#       of the rules in FILE (table of rules.sh) those that gain most for certain, at most two of a part
#   awk -v part=trust -v data=DIR -f common.awk -f first.awk
#       the distribution of errors by regime, and the number of shapes that a seed drew

# ---- numbers ----

# The greatest rate of a function of m, n, k (default: square) in flop/s.
function best_rate(name,   n, list, i, row, k, rate, best) {
	n = split(rows_of[name], list, " ")
	for (i = 1; i <= n; i++) {
		row = P[list[i], "parameter"]
		k = argument(row, "n")
		rate = value(row) > 0 ? 2 * k * (argument(row, "m") == "" ? k : argument(row, "m")) * (argument(row, "k") == "" ? k : argument(row, "k")) / value(row) : 0
		best = rate > best ? rate : best
	}
	return best > 0 ? best : ""
}
# Of a row: its name is left in `asked`.
function of_row(name) {
	asked = name
	return value(name)
}
function number(which,   x) {
	asked = ""
	if (which == "launch")
		return of_row("gpu.launch.dependent")
	if (which == "barrier")
		return of_row(grid_barrier())
	if (which == "bf16")
		return (x = of_row("gpu.wgmma.bf16.rate")) != "" ? x : of_row("gpu.mma.bf16.rate")
	if (which == "fork" || which == "team")
		return of_row(widest("host.parallel." (which == "fork" ? "fork" : "barrier"), "threads", ""))
	return which ~ /^host[.]gemm/ ? best_rate(which) : of_row(which)
}
function limit(which, x,   each, n, i) {
	said = ""
	if (which == "launch" || which == "barrier") {
		said = "two trips to L2"
		return 2 * value("gpu.l2.latency")
	}
	if (which == "gpu.dram.copy") {
		said = "the memory's pins"
		return head_of(data "/copy.tsv", "pin_bytes_per_second")
	}
	if (which == "gpu.shared.read") {
		said = "128 bytes a cycle and SM"
		return 128 * sm_count() * value("gpu.clock.sm")
	}
	if (which == "link.h2d.pinned.beta") {
		n = split("15.75 31.5 63 121", each, " ")
		for (i = 1; i <= n && each[i] * 1e9 < x; i++)
			;
		said = i > n ? "" : "PCI Express " (i + 2) ".0 x16, payload"
		return i > n ? "" : each[i] * 1e9
	}
	if (which == "gpu.gemm.s.peak" || which == "gpu.gemm.d.peak") {
		said = which ~ /[.]s[.]/ ? "all FMA units" : "all double-precision units"
		return units(which ~ /[.]s[.]/ || value("gpu.mma.d16.rate") == "" ? value("gpu.fma." substr(which, 10, 1) ".rate") : value("gpu.mma.d16.rate"))
	}
	if (which == "bf16") {
		said = "all tensor cores"
		return units(x)
	}
	if (which == "fork" || which == "team") {
		said = "a line there and back"
		return 2 * value("host.exchange.latency")
	}
	return ""
}
function is_lower(unit) { return unit == "s" }
function share(x, top, unit) { return !(x > 0) || !(top > 0) ? "" : sprintf("%.3f", is_lower(unit) ? top / x : x / top) }
function print_numbers(   n, m, i, j, which, title, folder, x, top, text, names, best, unit, other, bars, good, weak, row, of) {
	n = split(kind == "gpu" ? "launch barrier gpu.dram.copy gpu.shared.read link.h2d.pinned.beta gpu.gemm.s.peak gpu.gemm.d.peak bf16" : \
		"fork team host.exchange.latency host.l2.latency host.l3.latency host.memory.copy.peak host.gemm.s host.gemm.d", which, " ")
	split(kind == "gpu" ? "start of a dependent kernel|barrier over the grid|copy in device memory, read + written|shared memory of all SMs, read|pinned memory to the GPU|library's product, single precision|library's product, double precision|tensor cores, BF16" : \
		"parallel region of all threads|barrier of all threads|cache line from core to core|load from L2|load from L3|memory copy, read + written|library's product, single precision|library's product, double precision", title, "|")
	m = split(others, folder, "\n")
	for (j = 1; j <= m; j++) {
		if (!read_profile(folder[j] "/profile.tsv"))
			continue
		for (i = 1; i <= n; i++)
			other[j, i] = number(which[i])
	}
	read_profile(data "/profile.tsv")
	for (i = 1; i <= n; i++) {
		x = number(which[i])
		row = row_of[asked]
		if (argument(asked, "threads") != "") # the probes leave some cores of a large machine free
			sub(/of all threads/, "of " argument(asked, "threads") " threads", title[i])
		unit = asked == "" ? "flop/s" : P[row, "unit"]
		if (x == "" || !(x > 0)) {
			bars = bars "BAR\t" title[i] "\t" (row != "" && is_number(P[row, "low"]) && is_number(P[row, "high"]) ? \
				with_unit(P[row, "low"], unit) " .. " with_unit(P[row, "high"], unit) : "not measured here") "\t\t\t\t\n"
			continue
		}
		top = limit(which[i], x)
		best = x
		for (j = 1; j <= m; j++)
			if (other[j, i] > 0 && (is_lower(unit) ? other[j, i] < best : other[j, i] > best))
				best = other[j, i]
		if (!(top > 0)) {
			top = m ? best : 0
			said = ""
		}
		text = names = ""
		for (j = 1; j <= m; j++)
			if (other[j, i] > 0) {
				text = text " " share(other[j, i], top, unit)
				names = names (names == "" ? "" : ", ") base_of_path(folder[j]) " " with_unit(other[j, i], unit)
			}
		of = share(x, top, unit)
		if (top > 0 && (asked == "" || P[row, "status"] == "ok")) {
			if (of >= 0.8)
				good = good (good == "" ? "" : "; ") title[i]
			if (of < 0.5)
				weak = weak (weak == "" ? "" : "; ") title[i]
		}
		bars = bars "BAR\t" title[i] "\t" with_unit(x, unit) (P[row, "status"] == "ok" || asked == "" ? "" : " (" P[row, "status"] ")") "\t" \
			(asked == "" ? "" : interval(P[row, "low"], P[row, "high"], x, unit)) "\t" of "\t" text "\t" \
			(!(top > 0) ? "" : said == "" ? "best machine known, " with_unit(top, unit) " (no limit known)" : "limit, " with_unit(top, unit) ": " said) (names == "" ? "" : "; " names) "\n"
	}
	if (good != "")
		paragraph("Good, at least 80 % of the limit or of the best machine known: " good ".")
	if (weak != "")
		paragraph("Weak, under half: " weak ".")
	printf "%s", bars
}

# ---- rules ----

function print_rules(   i, n, best, taken, of_part, chapter) {
	load(rules, L)
	chapter["arithmetic"] = "instructions"
	chapter["factor"] = "factor"
	chapter["host"] = "host"
	chapter["launch"] = "start"
	chapter["link"] = "links"
	chapter["memory"] = "memory"
	chapter["sharing"] = "inside"
	for (n = 0; n < most; n++) {
		best = 0
		for (i = 1; i <= L["rows"]; i++)
			if (!(i in taken) && of_part[L[i, "part"]] < 2 && is_number(L[i, "gain_low"]) && L[i, "gain_low"] > 1 &&
				(!best || L[i, "gain_low"] > L[best, "gain_low"] + 0))
				best = i
		if (!best)
			break
		taken[best] = 1
		of_part[L[best, "part"]]++
		print "LI\t" L[best, "rule"] ": " L[best, "text"] "\t#" chapter[L[best, "part"]]
	}
	if (!n)
		paragraph("No rule gains for certain: parameters are missing or noisy. A whole run of fathom probe on an idle machine tells more.")
}

# ---- trust ----

function print_trust(   i, k, n, list, r, each, regime, count, all, drawn, seeds, seen, e, sorted, m, worst, in5, in10, in20) {
	load(data "/errors.tsv", T)
	n = split(rows_with("level=2 phase="), list, " ")
	for (k = 1; k <= n; k++) {
		i = list[k]
		if (!judges(T[i, "verdict"]) || !is_number(T[i, "error"]))
			continue
		all++
		each[T[i, "regime"]] = each[T[i, "regime"]] " " sprintf("%.6f", magnitude(T[i, "error"]))
		if (field(i, "seed") != "") {
			drawn++
			if (!(field(i, "seed") in seen))
				seeds++
			seen[field(i, "seed")] = 1
		}
	}
	if (!all) {
		paragraph("No comparison in " data " yet: fathom validate predicts, measures and compares.")
		return
	}
	m = ascending(each["hardware"] each["library"] each["calibrated"], sorted)
	for (k = 1; k <= m; k++) {
		in5 += sorted[k] <= 0.05
		in10 += sorted[k] <= 0.1
		in20 += sorted[k] <= 0.2
	}
	paragraph("Of " plural(m, "prediction") " " percent(in5 / m, "%.0f") " % are within 5 % of the measurement, " percent(in10 / m, "%.0f") \
		" % within 10 %, and " percent(in20 / m, "%.0f") " % within 20 %.")
	split("hardware library calibrated", regime, " ")
	for (r = 1; r <= 3; r++) {
		m = ascending(each[regime[r]], sorted)
		in5 = in10 = in20 = 0
		for (k = 1; k <= m; k++) {
			in5 += sorted[k] <= 0.05
			in10 += sorted[k] <= 0.1
			in20 += sorted[k] <= 0.2
		}
		if (m)
			print "SPREAD\t" regime[r] "\t" plural(m, "case") ", median " percent(sorted[int((m + 1) / 2)]) " %, worst " \
				percent(sorted[m], "%.0f") " %\t" sprintf("%.3f %.3f %.3f", in5 / m, in10 / m, in20 / m)
	}
	paragraph("Errors: predicted / measured - 1, written before the runs. Hardware: no timing of a kernel or a call. Library: timings of library calls, " \
		"too. Calibrated: timings of our kernels, too. " (drawn ? "Blind: " plural(drawn, "case") " of " all " at shapes that " plural(seeds, "seed") \
		" drew after the last change." : "Blind: 0 of " plural(all, "case") "; all are at fixed sizes that no fit has seen."))
}

BEGIN {
	if (part == "numbers")
		print_numbers()
	else if (part == "rules")
		print_rules()
	else
		print_trust()
}
