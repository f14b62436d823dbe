# SPDX-License-Identifier: MIT
# A probe's curve as gnuplot wants it: one file per series in `folder`, a row per point in ascending
# order, the processes combined: their median, and the extremes of their intervals.
#   awk -v folder=DIR -f series.awk probe.tsv
BEGIN { FS = OFS = "\t" }
/^#/ { next }
!columns {
	columns = NF
	for (i = 1; i <= NF; i++) {
		at[$i] = i
		if ($i == "process")
			keys = i - 1
	}
	for (i = 2; i <= keys; i++)
		header = header $i OFS
	if (!keys || !at["seconds"] || !at["low_seconds"] || !at["high_seconds"]) {
		print "plots: " FILENAME " is no curve: it lacks a column" >"/dev/stderr"
		exit 1
	}
	next
}
NF == columns && $at["seconds"] ~ /^[0-9.]/ {
	key = $1
	for (i = 2; i <= keys; i++)
		key = key OFS ($i == "nan" ? "NaN" : $i)
	if (!(key in seen)) {
		seen[key] = ++count
		point[count] = key
	}
	k = seen[key]
	time[k, ++processes[k]] = $at["seconds"]
	low = $at["low_seconds"] ~ /^[0-9.]/ ? $at["low_seconds"] : $at["seconds"]
	high = $at["high_seconds"] ~ /^[0-9.]/ ? $at["high_seconds"] : $at["seconds"]
	if (processes[k] == 1 || low + 0 < lowest[k])
		lowest[k] = low + 0
	if (processes[k] == 1 || high + 0 > highest[k])
		highest[k] = high + 0
}
function median(k,   i, j, n, x, v) {
	n = processes[k]
	for (i = 1; i <= n; i++) {
		x = time[k, i] + 0
		for (j = i - 1; j > 0 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function before(a, b,   x, y, i, n) { # by the arguments, the first one first
	n = split(a, x, OFS)
	split(b, y, OFS)
	for (i = 2; i <= n; i++)
		if (x[i] != y[i])
			return x[i] + 0 < y[i] + 0
	return 0
}
END {
	for (i = 2; i <= count; i++) {
		key = point[i]
		for (j = i - 1; j > 0 && before(key, point[j]); j--)
			point[j + 1] = point[j]
		point[j + 1] = key
	}
	for (i = 1; i <= count; i++) {
		key = point[i]
		k = seen[key]
		series = key
		sub(/\t.*/, "", series)
		gsub(/[^A-Za-z0-9_]/, "_", series)
		out = folder "/" series ".tsv"
		if (!(series in begun)) {
			begun[series] = 1
			print header "seconds", "low", "high" >out
		}
		sub(/^[^\t]*\t?/, "", key)
		print key (keys > 1 ? OFS : "") sprintf("%.9g", median(k)), sprintf("%.9g", lowest[k]),
			sprintf("%.9g", highest[k]) >out
	}
}
