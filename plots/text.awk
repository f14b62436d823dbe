# SPDX-License-Identifier: MIT
# The report's markup (common.awk) as plain text of at most 100 columns.
BEGIN { FS = "\t"; width = 100 }

function wrap(text, first, rest,   n, word, i, line) {
	n = split(text, word, " ")
	line = first
	for (i = 1; i <= n; i++) {
		if (length(line word[i]) > width && line != first && line != rest) {
			sub(/ +$/, "", line)
			print line
			line = rest
		}
		line = line word[i] (i < n ? " " : "")
	}
	sub(/ +$/, "", line)
	print line
}
function underline(text, with,   line) {
	line = text
	gsub(/./, with, line)
	print "\n" text "\n" line
}
function pad(text, n, right) {
	if (length(text) > n)
		text = substr(text, 1, n - 2) ".."
	return sprintf(right ? "%" n "s" : "%-" n "s", text)
}

function is_empty(c,   r) {
	for (r = 1; r <= rows; r++)
		if (cell[r, c] != "" && cell[r, c] != "-")
			return 0
	return rows > 0
}

# Rows of cells. Columns without a value are left out. Where all is too wide, the first column has lines of its own, and left-aligned ones
# behind it give way.
function print_table(   c, r, total, widest, line, alone) {
	total = -2
	for (c = 1; c <= columns; c++) {
		wide[c] = 0
		if (c > 1 && is_empty(c))
			shown[c] = 0
		for (r = 0; r <= rows; r++)
			if (shown[c] && length(cell[r, c]) > wide[c])
				wide[c] = length(cell[r, c])
		total += shown[c] ? wide[c] + 2 : 0
	}
	alone = total > width
	if (alone)
		total += 2 - wide[1]
	while (total > width) {
		widest = 0
		for (c = 2; c <= columns; c++)
			if (shown[c] && !right[c] && (!widest || wide[c] > wide[widest]))
				widest = c
		if (!widest || wide[widest] < 12)
			break
		wide[widest]--
		total--
	}
	for (r = 0; r <= rows; r++) {
		line = ""
		if (alone)
			print cell[r, 1]
		for (c = alone ? 2 : 1; c <= columns; c++)
			if (shown[c])
				line = line (line == "" ? alone ? "    " : "" : "  ") pad(cell[r, c], wide[c], right[c])
		sub(/ +$/, "", line)
		print line
	}
	print ""
}

hidden && $1 != "ENDDETAILS" { next }
$1 == "DETAILS" { hidden = 1; next }
$1 == "ENDDETAILS" { hidden = 0; next }
$1 == "BAR" {
	wrap($2 ": " $3 ($4 == "" ? "" : " (" $4 ")") ($5 == "" ? "" : sprintf(", %.0f %% of the ", 100 * $5) $7), "- ", "  ")
	next
}
$1 == "SPREAD" {
	split($4, within, " ")
	wrap($2 ": " $3 sprintf("; within 5 %%: %.0f %%, 10 %%: %.0f %%, 20 %%: %.0f %%", 100 * within[1], 100 * within[2], 100 * within[3]), "- ", "  ")
	next
}
$1 == "H1" { print $3; line = $3; gsub(/./, "=", line); print line "\n"; next }
$1 == "H2" { underline($3, "="); print ""; next }
$1 == "H3" { underline($3, "-"); next }
$1 == "FIG" { print "(figures/" $2 ".svg)"; next }
$1 == "P" { wrap($2, "", ""); next }
$1 == "NOTE" { wrap($2, "! ", "  "); next }
$1 == "LI" { wrap($2 ($4 == "" || $4 == "why" ? "" : " " $4), "- ", "  "); next }
$1 == "TABLE" {
	columns = NF - 3
	rows = 0
	if ($3 != "") {
		print ""
		wrap($3, "", "")
	}
	for (c = 1; c <= columns; c++) {
		text = $(c + 3)
		shown[c] = text !~ /^!/
		sub(/^!/, "", text)
		right[c] = text ~ /^>/
		cell[0, c] = substr(text, 2)
	}
	next
}
$1 == "ROW" && $2 ~ /lower/ && $2 !~ /all/ { next } # for the page alone
$1 == "ROW" {
	rows++
	for (c = 1; c <= columns; c++)
		cell[rows, c] = $(c + 2)
	next
}
$1 == "END" { print_table() }
