# SPDX-License-Identifier: MIT
# Values of the profile one below the other, for ladder.gp:
#   awk -v data=DIR -v folder=WORK -v rows=plots/ladders.tsv -v chapter=NAME -f common.awk -f ladder.awk
# Writes folder/rows.tsv (place, value, low, high in the unit of the figure, label, text); prints the number of rows.
function found(text,   part, n, side) {
	n = split(text, part, " ")
	if (n == 1)
		return text
	split(part[2], side, "=")
	return side[2] == "max" ? widest(part[1], side[1], part[3]) : \
		nearest(part[1], side[1], side[2] == "SMS" ? (sm_count() ? sm_count() : 1e9) : side[2], part[3])
}
BEGIN {
	read_profile(data "/profile.tsv")
	load(rows, L)
	split("start 1e6 inside 1e9 instructions 1e-12 host 1e9", pair, " ")
	for (i = 1; i < 8; i += 2)
		factor[pair[i]] = pair[i + 1]
	for (i = L["rows"]; i > 0; i--) {
		name = L[i, "chapter"] == chapter ? found(L[i, "parameter"]) : ""
		if (name == "" || !(value(name) > 0))
			continue
		row = row_of[name]
		f = factor[chapter]
		low = is_number(P[row, "low"]) ? P[row, "low"] : value(name)
		high = is_number(P[row, "high"]) ? P[row, "high"] : value(name)
		begin_series("rows", "place value low high label text")
		printf "%d\t%.6g\t%.6g\t%.6g\t%s\t%s\n", ++count, value(name) * f, low * f, high * f, L[i, "label"], \
			with_unit(value(name), P[row, "unit"]) >(folder "/rows.tsv")
	}
	if (count)
		print count
}
