# SPDX-License-Identifier: MIT
# Names of curves at the right edge, at the heights of their last points, moved apart where they would overlap:
#   awk -v x=COLUMN -v y=COLUMN -v per=UNIT -v axis=log -v part=SHARE -v names="one|two" -v lines="1|2" -f common.awk -f labels.awk FILE...
# Prints x, y, name and line of each. y=rate: bytes over seconds. part: the least gap, of the axis.
function up(x) { return int(x) < x ? int(x) + 1 : int(x) }
BEGIN {
	decade = ln(10)
	n = split(names, name, "|")
	split(lines, drawn, "|")
	for (f = 1; f < ARGC; f++) {
		load(ARGV[f], C)
		for (i = 1; i <= C["rows"]; i++) {
			v = y == "rate" ? C[i, "bytes"] / C[i, "seconds"] : C[i, y]
			if (!is_number(v))
				continue
			v /= per
			v = axis == "log" ? (v > 0 ? ln(v) : bottom) : v
			top = top == "" || v > top ? v : top
			bottom = bottom == "" || v < bottom ? v : bottom
			edge = edge == "" || C[i, x] + 0 > edge + 0 ? C[i, x] : edge
			height[f] = v
		}
	}
	# A logarithmic axis ends at powers of ten.
	gap = part * (axis == "log" ? decade * (up(top / decade) + up(-bottom / decade)) : top - bottom)
	for (f = 1; f < ARGC; f++)
		if (f in height) {
			for (j = count++; j > 0 && height[order[j]] > height[f]; j--)
				order[j + 1] = order[j]
			order[j + 1] = f
		}
	for (j = 2; j <= count; j++)
		if (height[order[j]] < height[order[j - 1]] + gap)
			height[order[j]] = height[order[j - 1]] + gap
	for (j = count; j > 0; j--) {
		limit = j == count ? top : height[order[j + 1]] - gap
		if (height[order[j]] > limit)
			height[order[j]] = limit
	}
	print "x\ty\tname\tline"
	for (j = 1; j <= count; j++)
		printf "%.6g\t%.6g\t%s\t%d\n", edge, (axis == "log" ? antilog(height[order[j]]) : height[order[j]]), name[order[j]], drawn[order[j]]
}
