# SPDX-License-Identifier: MIT
# Series of the figure on the shares of LU's time: awk -v folder=WORK -v data=DATA -f common.awk -f bench.awk -f breakdown.awk
# From DATA/breakdown.tsv the share of each phase, stacked, single precision: folder/lu_VARIANT.tsv (n, one column a
# part: its upper edge; hidden: panels and transfers overlapped by other operations, as a share of the whole); from
# DATA/breakdown_measured.tsv the same as folder/measured_VARIANT.tsv. From DATA/bench.tsv
# folder/without-OPERATION-VARIANT-NAME.tsv (n, ratio). Prints the number of series.

function take_breakdown(B, series,   i, v, n, phase, known, list) {
	for (i = 1; i <= B["rows"]; i++) {
		if (B[i, "operation"] != "getrf" || B[i, "precision"] != "s" || B[i, "variant"] == "host")
			continue
		v = B[i, "variant"]
		n = B[i, "n"]
		phase = B[i, "phase"]
		if (phase == "all") {
			known[v] = 1
			list[v] = list[v] " " n
		} else if ((phase == "panel" || phase == "transfer") && B[i, "busy_s"] > B[i, "critical_s"]) {
			hidden[series v, n] += B[i, "busy_s"] - B[i, "critical_s"]
		}
	}
	sum_breakdown(B)
	for (v in known)
		write_breakdown(series v, v, list[v])
}
function write_breakdown(name, v, list,   count, n, parts, part, i, p, line, sum, out) {
	out = folder "/" name ".tsv"
	parts = split("update solve swap panel transfer rest", part, " ")
	print "n\tzero\tupdate\tsolve\tswap\tpanel\ttransfer\trest\thidden" >out
	count = split(list, n, " ")
	for (i = 1; i <= count; i++) {
		line = n[i] "\t0"
		sum = 0
		for (p = 1; p <= parts; p++) {
			sum += share_of("getrf", v, n[i], part[p])
			line = line "\t" sprintf("%.4f", sum)
		}
		print line "\t" sprintf("%.4f", hidden[name, n[i]] / whole_of["getrf", v, n[i]]) >out
	}
	close(out)
	written++
}
function take_slowdowns(   i, k, out) {
	if (!load(data "/bench.tsv", T))
		return
	for (i = 1; i <= T["rows"]; i++) {
		k = slowdown_series(i, "s")
		if (k == "" || (k, T[i, "n"]) in had)
			continue
		had[k, T[i, "n"]] = 1
		out = folder "/without-" k ".tsv"
		if (!(k in begun)) {
			print "n\tratio" >out
			begun[k] = 1
			written++
		}
		printf "%d\t%.4g\n", T[i, "n"], slower >out
	}
}
BEGIN {
	if (load(data "/breakdown.tsv", B))
		take_breakdown(B, "lu_")
	if (load(data "/breakdown_measured.tsv", M))
		take_breakdown(M, "measured_")
	take_slowdowns()
	if (written)
		print written
}
