# SPDX-License-Identifier: MIT
# Series of the figure of where LU's time goes: awk -v folder=WORK -v data=DATA -f common.awk -f bench.awk -f breakdown.awk
# From DATA/breakdown.tsv the share that each phase costs, stacked, single precision: folder/lu_VARIANT.tsv (n, one column a
# part: its upper edge; hidden: panels and transfers that something else covers, as a share of the whole). From
# DATA/bench.tsv folder/without-OPERATION-VARIANT-NAME.tsv (n, ratio). Prints the number of series.

function part_of(phase) {
	return phase == "update" || phase == "solve" || phase == "swap" || phase == "panel" || phase == "transfer" ? phase : "rest"
}
function take_breakdown(   i, v, n, phase) {
	if (!load(data "/breakdown.tsv", B))
		return
	for (i = 1; i <= B["rows"]; i++) {
		if (B[i, "operation"] != "getrf" || B[i, "precision"] != "s" || B[i, "variant"] == "host")
			continue
		v = B[i, "variant"]
		n = B[i, "n"]
		phase = B[i, "phase"]
		if (phase == "all") {
			whole[v, n] = B[i, "owed_s"]
			list[v] = list[v] " " n
			continue
		}
		owed[v, n, part_of(phase)] += B[i, "owed_s"]
		if ((phase == "panel" || phase == "transfer") && B[i, "busy_s"] > B[i, "owed_s"])
			hidden[v, n] += B[i, "busy_s"] - B[i, "owed_s"]
	}
}
function write_breakdown(v,   count, n, parts, part, i, p, line, sum, out) {
	out = folder "/lu_" v ".tsv"
	parts = split("update solve swap panel transfer rest", part, " ")
	print "n\tzero\tupdate\tsolve\tswap\tpanel\ttransfer\trest\thidden" >out
	count = split(list[v], n, " ")
	for (i = 1; i <= count; i++) {
		line = n[i] "\t0"
		sum = 0
		for (p = 1; p <= parts; p++) {
			sum += owed[v, n[i], part[p]] / whole[v, n[i]]
			line = line "\t" sprintf("%.4f", sum)
		}
		print line "\t" sprintf("%.4f", hidden[v, n[i]] / whole[v, n[i]]) >out
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
	take_breakdown()
	for (v in list)
		write_breakdown(v)
	take_slowdowns()
	if (written)
		print written
}
