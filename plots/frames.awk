# SPDX-License-Identifier: MIT
# The panels of a figure, for the values that report.js shows at the pointer. Reads the file that style.gp's `frame` writes, a line
# a plot: its number, the panel's left, right, bottom and top in pixels, the figure's height, the ends of x and y; and of each plot the
# file of its settings.   awk -f frames.awk frames
# Prints, between bars: "left right top bottom xmin xmax xlog ymin ymax ylog", then both axes' labels: "1=name;2=...".
function labels_of(line,   text, label) {
	while (match(line, /"[^"]*" -?[0-9.e+]+/)) {
		label = substr(line, RSTART + 1, RLENGTH - 1)
		line = substr(line, RSTART + RLENGTH)
		match(label, /" /)
		if (RSTART > 1)
			text = text (text == "" ? "" : ";") substr(label, RSTART + 2) + 0 "=" substr(label, 1, RSTART - 1)
	}
	gsub(/[|&<>']/, " ", text)
	return text
}
!(($2, $3, $4, $5) in seen) {
	seen[$2, $3, $4, $5] = 1
	log_x = log_y = 0
	names_x = names_y = ""
	file = "frame" $1 ".set"
	while ((getline line <file) > 0) {
		if (line ~ /^set logscale x /)
			log_x = 1
		if (line ~ /^set logscale y /)
			log_y = 1
		if (line ~ /^set xtics .*[(]/)
			names_x = labels_of(line)
		if (line ~ /^set ytics .*[(]/)
			names_y = labels_of(line)
	}
	close(file)
	printf "%s%.2f %.2f %.2f %.2f %.6g %.6g %d %.6g %.6g %d|%s|%s", (n++ ? "|" : ""), $2, $3, $6 - $5, $6 - $4, $7, $8, log_x, $9, $10, log_y, names_x, names_y
}
