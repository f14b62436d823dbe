# SPDX-License-Identifier: MIT
# Series of the figure on the shares of LU's time: awk -v folder=WORK -v data=DATA -f common.awk -f bench.awk -f breakdown.awk
# From DATA/breakdown.tsv the share of each phase, stacked, single precision: folder/lu_VARIANT.tsv (n, one column a
# part: its upper edge; hidden: panels and transfers overlapped by other operations, as a share of the whole); from
# DATA/breakdown_measured.tsv the same as folder/measured_VARIANT.tsv. From DATA/bench.tsv
# folder/without-OPERATION-VARIANT-NAME.tsv (n, ratio). Prints the number of series.

function write_breakdown(B, kind,   i, key, k, keys, order, phase, part, p, sum, line, hidden) {
	for (i = 1; i <= B["rows"]; i++) {
		if (B[i, "operation"] != "getrf" || B[i, "precision"] != "s" || B[i, "variant"] == "host")
			continue
		key = "getrf" SUBSEP B[i, "variant"] SUBSEP B[i, "n"]
		phase = B[i, "phase"]
		if (phase == "all")
			order[++keys] = key
		else if ((phase == "panel" || phase == "transfer") && B[i, "busy_s"] > B[i, "critical_s"])
			hidden[key] += B[i, "busy_s"] - B[i, "critical_s"]
	}
	sum_breakdown(B, kind)
	for (k = 1; k <= keys; k++) {
		split(order[k], part, SUBSEP)
		name = kind "_" part[2]
		line = part[3] " 0"
		split("update solve swap panel transfer rest", part, " ")
		sum = 0
		for (p = 1; p <= 6; p++) {
			sum += critical_to[kind, order[k], part[p]] / whole_of[kind, order[k]]
			line = line " " sprintf("%.4f", sum)
		}
		point(name, "n zero update solve swap panel transfer rest hidden", line " " sprintf("%.4f", hidden[order[k]] / whole_of[kind, order[k]]))
	}
}
BEGIN {
	load(data "/breakdown.tsv", B)
	load(data "/breakdown_measured.tsv", M)
	load(data "/bench.tsv", T)
	write_breakdown(B, "lu")
	write_breakdown(M, "measured")
	for (i = 1; i <= T["rows"]; i++) {
		k = slowdown_series(i, "s")
		if (k != "" && k !~ /-lawn-/ && !((k, T[i, "n"]) in had))
			point("without-" k, "n ratio", sprintf("%d %.4g", T[i, "n"], slower))
		had[k, T[i, "n"]] = 1
	}
	if (series)
		print series
}
