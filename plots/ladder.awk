# SPDX-License-Identifier: MIT
# Values of the profile one below the other, for ladder.gp:
#   awk -v data=DIR -v folder=WORK -v rows=plots/ladders.tsv -v chapter=NAME [-v second=DIR] -f common.awk -f ladder.awk
# Writes folder/rows.tsv (place, value, low, high in the unit of the figure, label, text, line: 2 of the second machine, which stands
# below the first) and folder/labels.tsv (place, label); prints the number of rows.
function found(text,   part, n, side) {
	n = split(text, part, " ")
	if (n == 1)
		return text
	split(part[2], side, "=")
	return side[2] == "max" ? widest(part[1], side[1], part[3]) : \
		nearest(part[1], side[1], side[2] == "SMS" ? (sm_count() ? sm_count() : 1e9) : side[2], part[3])
}
# Keeps a machine's rows: shown[number of the row, line].
function take(dir, line,   i, name, row, f, low, high) {
	read_profile(dir "/profile.tsv")
	f = factor[chapter]
	for (i = 1; i <= L["rows"]; i++) {
		name = L[i, "chapter"] == chapter ? found(L[i, "parameter"]) : ""
		if (name == "" || !(value(name) > 0))
			continue
		row = row_of[name]
		low = is_number(P[row, "low"]) ? P[row, "low"] : value(name)
		high = is_number(P[row, "high"]) ? P[row, "high"] : value(name)
		shown[i, line] = sprintf("%.6g\t%.6g\t%.6g\t%s\t%s\t%d", value(name) * f, low * f, high * f, L[i, "label"], \
			with_unit(value(name), P[row, "unit"]), line)
	}
}
BEGIN {
	load(rows, L)
	split("start 1e6 inside 1e9 instructions 1e-12 host 1e9", pair, " ")
	for (i = 1; i < 8; i += 2)
		factor[pair[i]] = pair[i + 1]
	take(data, 1)
	if (second != "")
		take(second, 2)
	for (i = L["rows"]; i > 0; i--) {
		if (!((i, 1) in shown || (i, 2) in shown))
			continue
		begin_series("rows", "place value low high label text line")
		begin_series("labels", "place label")
		printf "%d\t%s\n", ++count, L[i, "label"] >(folder "/labels.tsv")
		for (line = 1; line <= 2; line++)
			if ((i, line) in shown)
				printf "%.6g\t%s\n", count + (second == "" ? 0 : 0.62 - 0.41 * line), shown[i, line] >(folder "/rows.tsv")
	}
	if (count)
		print count
}
