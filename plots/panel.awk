# SPDX-License-Identifier: MIT
# Rates of one executor's LU panels, single precision, at one width nb, and LAWN 202's estimates.
#   awk -v data=OUTPUT -v executor=cuda|host [-v folder=DIR | -v table=yes] -f common.awk -f panel.awk
# The width is the one with most measured cases; among equals the one nearest to the paper's 64. With a folder:
# writes DIR/{measured,predicted}_VARIANT.tsv and DIR/estimate_{launch,barrier}.tsv for the figure. With a
# table: markup of all rates. Else prints nb (nothing when there is no case).

# Rows of a variant, of one file; "ger" is an operation of its own.
function cases(kind, variant) {
	return "executor=" executor " precision=s phase= level= seed= kind=" kind " operation=" (variant == "ger" ? "ger" : "panel_getrf variant=" variant)
}
function row_at(kind, variant, m) { return first_with(cases(kind, variant) " n=" nb " m=" m, "seconds") }

function distance(n) { return n > 64 ? n / 64 : 64 / n }
function choose_width(kind,   i, v, count, n, least, best) {
	for (v = 1; v <= 7; v++)
		least = least rows_with(cases(kind, order[v]))
	count = split(least, n, " ")
	for (i = 1; i <= count; i++)
		if (is_number(T[n[i], "seconds"]))
			at_width[kind, T[n[i], "n"]]++
	for (i = 1; i <= count; i++) {
		n[i] = T[n[i], "n"]
		if (best == "" || at_width[kind, n[i]] > at_width[kind, best] || \
			(at_width[kind, n[i]] == at_width[kind, best] && distance(n[i]) < distance(best)))
			best = n[i]
	}
	return best
}
# An interval that begins at 0 has no highest rate: no band there.
function rate(variant, m, time) {
	return time > 0 ? sprintf("%.6g", (variant == "ger" ? 2 * m * nb : flops_getrf(m, nb)) / time / 1e9) : "nan"
}

# ---- for the figure ----

function write_rates(kind, variant,   j, i) {
	for (j = 1; j <= sizes; j++)
		if (i = row_at(kind, variant, size[j]))
			point(kind "_" variant, "m gflops low high", sprintf("%d %s %s %s", size[j], rate(variant, size[j], T[i, "seconds"]), \
				rate(variant, size[j], is_number(T[i, "high"]) ? T[i, "high"] : T[i, "seconds"]), \
				rate(variant, size[j], is_number(T[i, "low"]) ? T[i, "low"] : T[i, "seconds"])))
}
function write_estimate(name, alpha, beta,   m) {
	for (m = size[1]; alpha != "" && beta != "" && m < 1.04 * size[sizes]; m *= 1.05)
		point("estimate_" name, "m gflops", sprintf("%.0f %.6g", m, flops_getrf(m, nb) / panel_estimate(m, nb, alpha, beta) / 1e9))
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
function cell(v, m,   i, p) {
	i = row_at("measured", v, m)
	p = row_at("predicted", v, m)
	return (i ? significant(rate(v, m, T[i, "seconds"]), 3) : "-") (p ? " (" significant(rate(v, m, T[p, "seconds"]), 3) ")" : "")
}
function print_table(   v, j, i, head, line, best) {
	for (v = 1; v <= variants; v++)
		head = head "|>" named(variant[v])
	table_start("panel-" executor, "m x " nb " on " (executor == "cuda" ? "the GPU" : "the host") \
		": Gflop/s measured (predicted)", ">m" head "|!<fastest measured")
	for (j = 1; j <= sizes; j++) {
		line = size[j]
		best = 0
		for (v = 1; v <= variants; v++) {
			line = line "|" cell(variant[v], size[j])
			i = row_at("measured", variant[v], size[j])
			if (i && variant[v] != "ger" && (!best || T[i, "seconds"] + 0 < T[best, "seconds"] + 0))
				best = i
		}
		table_row("", line "|" (best ? named(T[best, "variant"]) : ""))
	}
	table_end()
}

BEGIN {
	load(data "/measurements.tsv", T, "measured")
	load(data "/predictions.tsv", T, "predicted")
	split("blas optimized fused persistent host cusolver ger", order, " ")
	nb = choose_width("measured")
	nb = nb == "" ? choose_width("predicted") : nb
	if (nb != "")
		nb += 0 # text would compare as text
	for (v = 1; v <= 7 && nb != ""; v++) {
		rows = rows_with(cases("measured", order[v]) " n=" nb) rows_with(cases("predicted", order[v]) " n=" nb)
		if (rows != "") {
			variant[++variants] = order[v]
			for (j = split(rows, list, " "); j > 0; j--)
				if (!(T[list[j], "m"] in known)) {
					known[T[list[j], "m"]] = 1
					every = every " " T[list[j], "m"]
				}
		}
	}
	sizes = ascending(every, size)
	if (nb == "" && table != "")
		paragraph("Panels of the " executor " executor: not measured here.")
	else if (table != "")
		print_table()
	else if (nb != "") {
		if (folder != "")
			write_all()
		print nb
	}
}
