# SPDX-License-Identifier: MIT
# A probe's curve for gnuplot: one file per series in `folder`, one row per point in ascending order of its arguments.
# Processes are combined: the median of their times, and the extremes of their intervals.
#   awk -v folder=DIR -f common.awk -f series.awk probe.tsv
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
		print "plots: " FILENAME " is not a curve: a column is missing" >"/dev/stderr"
		exit 1
	}
	next
}
NF == columns && $at["seconds"] ~ /^[0-9.]/ {
	key = $1
	for (i = 2; i <= keys; i++)
		key = key OFS ($i == "nan" || $i == "" ? "NaN" : $i)
	if (!(key in processes))
		point_of[++count] = key
	processes[key]++
	times[key] = times[key] " " $at["seconds"]
	low = ($at["low_seconds"] ~ /^[0-9.]/ ? $at["low_seconds"] : $at["seconds"]) + 0
	high = ($at["high_seconds"] ~ /^[0-9.]/ ? $at["high_seconds"] : $at["seconds"]) + 0
	if (processes[key] == 1 || low < lowest[key])
		lowest[key] = low
	if (processes[key] == 1 || high > highest[key])
		highest[key] = high
}
function median(key,   n, v) {
	n = ascending(times[key], v)
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
# The arguments as text that sorts as the numbers do: NaN, then negative ones.
function sortable(key,   n, part, i, text) {
	n = split(key, part, OFS)
	for (i = 2; i <= n; i++)
		text = text (part[i] == "NaN" ? "" : sprintf("%030.6f", part[i] + 1e9)) " "
	return text
}
END {
	if (!count)
		exit
	sorted = folder "/.sorted"
	gsub(/'/, "'\\''", sorted)
	sort = "LC_ALL=C sort >'" sorted "'"
	for (i = 1; i <= count; i++)
		print sortable(point_of[i]), i | sort
	close(sort)
	while ((getline line <(folder "/.sorted")) > 0) {
		sub(/.*\t/, "", line)
		key = point_of[line + 0]
		series = key
		sub(/\t.*/, "", series)
		gsub(/[^A-Za-z0-9_]/, "_", series)
		out = folder "/" series ".tsv"
		if (!(series in begun))
			print header "seconds", "low", "high" >out
		begun[series] = 1
		arguments = key
		sub(/^[^\t]*\t?/, "", arguments)
		printf "%s%.9g\t%.9g\t%.9g\n", arguments (keys > 1 ? OFS : ""), median(key), lowest[key], highest[key] >out
	}
}
