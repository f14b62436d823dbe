# SPDX-License-Identifier: MIT
# Questions and parameters of the probes, as markup behind a line "PROBE<TAB>NAME":
#   awk -v own=DIR -v list=FILE -f common.awk -f parameters.awk
# FILE has a line for every probe: name, folder, question, the prefixes of its parameters.

# A name belongs to the probe with the longest prefix that it starts with.
function longest(list,   n, prefix, i, best) {
	n = split(list, prefix, " ")
	for (i = 1; i <= n; i++)
		if (index(asked, prefix[i]) == 1 && length(prefix[i]) > best)
			best = length(prefix[i])
	return best + 0
}
function is_ours(name,   best) { # without arguments
	asked = name
	best = longest(names)
	return best > 0 && best >= longest(taken)
}

# The known limits of a parameter without a value.
function bounds(low, high, unit) {
	if (is_number(low) && is_number(high))
		return with_unit(low, unit) " .. " valued(high, unit)
	if (is_number(low) || is_number(high))
		return is_number(low) ? "beyond " valued(low, unit) : "below " valued(high, unit)
	return "not resolved"
}
function parameter_row(i,   unit, status) {
	unit = P[i, "unit"]
	status = P[i, "status"]
	table_row(status == "ok" ? "" : status, readable(P[i, "parameter"]) "|" \
		(status == "bounded" ? bounds(P[i, "low"], P[i, "high"], unit) : valued(P[i, "value"], unit)) "|" \
		interval(P[i, "low"], P[i, "high"], P[i, "value"], unit) "|" P[i, "samples"] "|" \
		(status == "ok" ? "ok" : toupper(status)) "|" P[i, "method"] "|" P[i, "regime"])
}
# Powers of two of bytes in binary units.
function readable(name,   x) {
	x = argument(name, "bytes")
	if (x >= 1048576 && x % 1048576 == 0)
		sub(/bytes=[0-9]+/, "bytes=" x / 1048576 " MiB", name)
	else if (x >= 1024 && x % 1024 == 0)
		sub(/bytes=[0-9]+/, "bytes=" x / 1024 " KiB", name)
	return name
}
function columns() { return "<parameter|>value|>95 % interval|>samples|<status|!<method|!<regime" }

# A function of many rows: the first, the last and the number of rows that are not ok.
function summary(i, last,   j, bad) {
	for (j = i; j <= last; j++)
		bad += P[j, "status"] != "ok"
	parameter_row(i)
	if (last - i > 1)
		table_row(bad > 0 ? "few" : "more", "  ... " (last - i + 1) " rows, " (bad ? bad " not ok" : "all ok") "||||||")
	if (last > i)
		parameter_row(last)
}

function parameters_of(probe,   name, rows, n, k, last, ours, count) {
	for (name in rows_of)
		if (is_ours(name))
			rows = rows rows_of[name]
	n = ascending(rows, ours)
	for (k = 1; k <= n; k++)
		count[P[ours[k], "status"]]++
	if (!n) {
		paragraph("No parameters: not measured here.")
		return
	}
	paragraph(plural(n, "parameter") ": " count["ok"] + 0 " ok, " count["noisy"] + 0 " noisy, " \
		count["bounded"] + 0 " bounded, " count["failed"] + 0 " failed.")
	table_start(probe "-parameters", "", columns())
	for (k = 1; k <= n; k = last + 1) {
		for (last = k; last < n && ours[last + 1] == ours[last] + 1 && base_of[ours[last + 1]] == base_of[ours[k]]; last++)
			;
		summary(ours[k], ours[last])
	}
	table_end()
}

BEGIN {
	FS = "\t"
	while ((getline <list) > 0) {
		probe[++probes] = $0
		taken = taken " " $4
	}
	for (p = 1; p <= probes; p++) {
		split(probe[p], f, "\t")
		names = f[4]
		print "PROBE\t" f[1]
		paragraph(f[3] (f[2] == own || f[2] == "" ? "" : " Answered by the recorded machine " f[2] "."))
		if (f[2] == "") {
			paragraph("Not measured here.")
			continue
		}
		if (f[2] != folder)
			read_profile(f[2] "/profile.tsv")
		folder = f[2]
		parameters_of(f[1])
	}
}
