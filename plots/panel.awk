# SPDX-License-Identifier: MIT
# Rates of one executor's LU panels, single precision, at one width nb, and LAWN 202's estimates.
#   awk -v data=OUTPUT -v executor=cuda|host [-v folder=DIR | -v table=yes] -f common.awk -f panel.awk
# The width is the one with most measured cases; among equals the one nearest to the paper's 64. With a folder:
# writes DIR/{measured,predicted}_VARIANT.tsv and DIR/estimate_{launch,barrier}.tsv for the figure. With a
# table: markup of all rates. Else prints nb (nothing when there is no case).

function is_panel(operation) { return operation == "panel_getrf" || operation == "ger" }

# One file's cases of the executor: seconds[kind, variant, m, n], low, high.
function collect(file, kind,   T, i, k) {
	load(file, T)
	for (i = 1; i <= T["rows"]; i++) {
		if (!is_panel(T[i, "operation"]) || T[i, "executor"] != executor || T[i, "precision"] != "s" || \
			T[i, "options"] ~ /phase=|level=/ || !is_number(T[i, "seconds"]))
			continue
		k = kind SUBSEP (T[i, "operation"] == "ger" ? "ger" : T[i, "variant"]) SUBSEP T[i, "m"] SUBSEP T[i, "n"]
		seconds[k] = T[i, "seconds"]
		low[k] = is_number(T[i, "low"]) ? T[i, "low"] : T[i, "seconds"]
		high[k] = is_number(T[i, "high"]) ? T[i, "high"] : T[i, "seconds"]
		cases[kind, T[i, "n"]]++
		widths[kind] = widths[kind] " " T[i, "n"]
		add_size(T[i, "m"], T[i, "n"])
	}
}
function add_size(m, n,   j) { # sizes[n, 1..]: ascending
	if ((m, n) in known)
		return
	known[m, n] = 1
	for (j = count[n]++; j > 0 && sizes[n, j] > m + 0; j--)
		sizes[n, j + 1] = sizes[n, j]
	sizes[n, j + 1] = m + 0
}

function distance(n) { return n > 64 ? n / 64 : 64 / n }
function choose_width(kind,   i, n, width, best) {
	n = split(widths[kind], width, " ")
	for (i = 1; i <= n; i++)
		if (best == "" || cases[kind, width[i]] > cases[kind, best] || \
			(cases[kind, width[i]] == cases[kind, best] && distance(width[i]) < distance(best)))
			best = width[i]
	return best
}
# An interval that begins at 0 has no highest rate: no band there.
function rate(variant, m, time) {
	return time > 0 ? sprintf("%.6g", (variant == "ger" ? 2 * m * nb : flops_getrf(m, nb)) / time / 1e9) : "nan"
}

# ---- for the figure ----

function write_rates(kind, variant,   i, m, k, out) {
	out = folder "/" kind "_" variant ".tsv"
	for (i = 1; i <= count[nb]; i++) {
		m = sizes[nb, i]
		k = kind SUBSEP variant SUBSEP m SUBSEP nb
		if (!(k in seconds))
			continue
		if (!(out in begun))
			print "m\tgflops\tlow\thigh" >out
		begun[out] = 1
		printf "%.0f\t%s\t%s\t%s\n", m, rate(variant, m, seconds[k]), rate(variant, m, high[k]), rate(variant, m, low[k]) >out
	}
}
function write_estimate(name, alpha, beta,   m, last, out) {
	if (alpha == "" || beta == "")
		return
	out = folder "/estimate_" name ".tsv"
	print "m\tgflops" >out
	last = sizes[nb, count[nb]]
	for (m = sizes[nb, 1]; m < 1.04 * last; m *= 1.05)
		printf "%.0f\t%.6g\n", m, flops_getrf(m, nb) / panel_estimate(m, nb, alpha, beta) / 1e9 >out
}
function write_all(   i) {
	for (i = 1; i <= variants; i++) {
		write_rates("measured", variant[i])
		write_rates("predicted", variant[i])
	}
	if (executor == "cuda" && read_profile(data "/profile.tsv")) {
		write_estimate("launch", value("gpu.launch.stream"), value("gpu.copy.beta"))
		write_estimate("barrier", value(grid_barrier()), value("gpu.copy.beta"))
	}
}

# ---- for the report ----

function named(v) { return v == "host" ? (executor == "cuda" ? "CPU+transfer" : "LAPACKE") : v == "ger" ? "ger alone" : v }
function cell(v, m,   k, p, text) {
	k = "measured" SUBSEP v SUBSEP m SUBSEP nb
	p = "predicted" SUBSEP v SUBSEP m SUBSEP nb
	text = k in seconds ? significant(rate(v, m, seconds[k]), 3) : "-"
	return text (p in seconds ? " (" significant(rate(v, m, seconds[p]), 3) ")" : "")
}
function print_table(   i, j, k, m, head, line, best, least) {
	head = ">m"
	for (i = 1; i <= variants; i++)
		head = head "|>" named(variant[i])
	table_start("panel-" executor, "m x " nb " on " (executor == "cuda" ? "the GPU" : "the host") \
		": Gflop/s measured (predicted)", head "|!<fastest measured")
	for (j = 1; j <= count[nb]; j++) {
		m = sizes[nb, j]
		line = m
		best = ""
		for (i = 1; i <= variants; i++) {
			line = line "|" cell(variant[i], m)
			k = "measured" SUBSEP variant[i] SUBSEP m SUBSEP nb
			if (k in seconds && variant[i] != "ger" && (best == "" || seconds[k] + 0 < least)) {
				best = named(variant[i])
				least = seconds[k] + 0
			}
		}
		table_row("", line "|" best)
	}
	table_end()
}

BEGIN {
	collect(data "/measurements.tsv", "measured")
	collect(data "/predictions.tsv", "predicted")
	nb = choose_width(widths["measured"] == "" ? "predicted" : "measured")
	if (nb != "")
		nb += 0 # text would compare as text
	n = split("blas optimized fused persistent host cusolver ger", order, " ")
	for (i = 1; i <= n; i++)
		for (k in seconds) {
			split(k, part, SUBSEP)
			if (part[2] == order[i] && part[4] == nb) {
				variant[++variants] = order[i]
				break
			}
		}
	if (nb == "") {
		if (table != "")
			paragraph("Panels of the " executor " executor: not measured here.")
	} else if (table != "")
		print_table()
	else {
		if (folder != "")
			write_all()
		print nb
	}
}
