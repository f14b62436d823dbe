# SPDX-License-Identifier: MIT
# The report's markup (common.awk) as the body of the HTML page: awk -v figures=DIR -f html.awk
BEGIN { FS = "\t" }

function escape(text) {
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	gsub(/"/, "\\&quot;", text)
	return text
}
function list(open) { # whether we are inside <ul>
	if (open != listing)
		print (open ? "<ul>" : "</ul>")
	listing = open
}
# Parameters behind a statement, in brackets at its end, stand smaller.
function with_source(text,   at) {
	text = escape(text)
	at = index(text, " [")
	return at && text ~ /\]$/ ? substr(text, 1, at - 1) " <small>" substr(text, at + 1) "</small>" : text
}

# The figure's SVG without its prolog, its ids made unique in the page. The points of all figures are defined once.
function inline_svg(name, legend,   line, file, started, defining, at) {
	file = figures "/" name ".svg"
	while ((getline line <file) > 0) {
		if (!started && line !~ /<svg/)
			continue
		if (!started && (at = index(line, "<svg"))) # sub() would read & in the legend
			line = substr(line, 1, at + 3) " role=\"img\" aria-label=\"" legend "\"" substr(line, at + 4)
		started = 1
		if (line == "<defs>")
			defining = 1
		gsub(/gnuplot_canvas|greybox|textbox/, name "_&", line)
		if (!defining || !defined)
			print line
		if (line == "</defs>") {
			defining = 0
			defined = 1
		}
	}
	close(file)
}

function width_of(name,   file, line, width) {
	file = figures "/" name ".svg"
	while (!width && (getline line <file) > 0)
		if (match(line, /viewBox="0 0 [0-9]+/))
			width = substr(line, RSTART + 13, RLENGTH - 13)
	close(file)
	return width + 0
}
# Rows of a profile for the script that sorts and searches them: methods by their number, a function by its name once.
function parameters(id, profile,   line, c, n, i, at, columns, methods, known, names, unit, base, last) {
	while ((getline line <profile) > 0) {
		if (line ~ /^#/)
			continue
		n = split(line, c, "\t")
		if (!columns) {
			columns = n
			for (i = 1; i <= n; i++)
				at[c[i]] = i
			print "<details class=\"parameters\" id=\"parameters-" id "\"><summary>All parameters, searchable and sortable</summary>"
			print "<p><label>Search <input type=\"search\" placeholder=\"words of names, methods or states\"></label> <output></output></p>"
			print "<div class=\"wide table\"><table><thead></thead><tbody></tbody></table></div>"
			printf "<template class=\"rows\">"
			continue
		}
		if (n < columns)
			continue
		if (!(c[at["method"]] in known)) {
			known[c[at["method"]]] = methods++
			names[methods] = escape(c[at["method"]])
		}
		unit = escape(c[at["unit"]])
		base = c[1]
		sub(/[[].*/, "", base)
		if (base == last && base != c[1])
			c[1] = substr(c[1], length(base) + 1)
		last = base
		printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", escape(c[1]), rounded(c[2]), unit, rounded(c[at["low"]]), rounded(c[at["high"]]), \
			escape(c[at["samples"]]), (c[at["status"]] == "ok" ? "" : escape(c[at["status"]])), known[c[at["method"]]]
	}
	close(profile)
	if (!columns)
		return
	print "</template>"
	printf "<template class=\"methods\">"
	for (i = 1; i <= methods; i++)
		print names[i]
	print "</template></details>"
}
function rounded(x) { return x ~ /^[-+0-9.]/ ? sprintf("%.4g", x) : "" }
function is_empty(text) { return text == "" || text == "-" }
function percent_text(x) { return sprintf("%.0f %%", 100 * x) }
function percent_of(x) { return sprintf("%.1f%%", 100 * (x > 1 ? 1 : x)) }

$1 != "LI" { list(0) }
$1 == "H1" { print "<h1>" escape($3) "</h1>"; next }
$1 == "H2" || $1 == "H3" {
	level = substr($1, 2)
	print "<h" level " id=\"" $2 "\"><a href=\"#" $2 "\">" escape($3) "</a></h" level ">"
	next
}
$1 == "P" { print "<p>" with_source($2) "</p>"; next }
$1 == "NOTE" { print "<p class=\"note\">" escape($2) "</p>"; next }
$1 == "LI" {
	list(1)
	print "<li>" with_source($2) ($3 == "" ? "" : " <a href=\"" escape($3) "\">" ($4 == "" ? "why" : escape($4)) "</a>") "</li>"
	next
}
$1 == "NAV" {
	print "<nav>"
	for (i = 2; i < NF; i += 2)
		print "<a href=\"" ($i ~ /[.]html$/ ? "" : "#") $i "\">" escape($(i + 1)) "</a>"
	print "</nav>"
	next
}
$1 == "FIG" {
	legend = escape($3)
	broad = width_of($2)
	print "<figure id=\"figure-" $2 "\"" (broad > 1000 ? " class=\"long\"" : broad > 600 ? " class=\"broad\"" : "") "><div class=\"wide\">"
	inline_svg($2, legend)
	printf "</div><figcaption>%s", legend
	for (i = 4; i < NF; i += 2)
		printf "%s<a href=\"%s\">%s</a>%s", (i == 4 ? " Data: " : ", "), escape($i), escape($(i + 1)), (i + 2 < NF ? "" : ".")
	print "</figcaption></figure>"
	next
}
$1 == "TABLE" {
	columns = NF - 3
	rows = 0
	print "<div class=\"wide table\"><table id=\"" $2 "\">" ($3 == "" ? "" : "<caption>" escape($3) "</caption>") "<thead><tr>"
	for (c = 1; c <= columns; c++) {
		text = $(c + 3)
		sub(/^!/, "", text)
		class[c] = text ~ /^>/ ? " class=n" : ""
		title[c] = escape(substr(text, 2))
		full[c] = c == 1
	}
	next
}
$1 == "ROW" {
	rows++
	row_class[rows] = $2
	for (c = 1; c <= columns; c++) {
		cell[rows, c] = escape($(c + 2))
		full[c] = full[c] || !is_empty($(c + 2))
	}
	next
}
$1 == "END" { # columns without a value are left out
	for (c = 1; c <= columns; c++)
		if (full[c] || !rows)
			printf "<th%s>%s</th>", class[c], title[c]
	print "</tr></thead><tbody>"
	for (r = 1; r <= rows; r++) {
		print "<tr" (row_class[r] == "" ? "" : " class=\"" row_class[r] "\"") ">"
		for (c = 1; c <= columns; c++)
			if (full[c])
				printf "<td%s>%s</td>", class[c], cell[r, c]
		print "</tr>"
	}
	print "</tbody></table></div>"
	next
}
$1 == "DETAILS" || $1 == "FOLD" { print "<details><summary>" escape($2) "</summary>"; next }
$1 == "ENDDETAILS" { print "</details>"; next }
$1 == "DIV" { print "<div class=\"" $2 "\">"; next }
$1 == "ENDDIV" { print "</div>"; next }
$1 == "BAR" {
	print "<div class=\"bar\"><b>" escape($2) "</b> <span>" escape($3) ($4 == "" ? "" : " <small>" escape($4) "</small>") "</span>"
	if ($5 != "") {
		printf "<i title=\"%s\"><u style=\"width:%s\"></u>", escape($7), percent_of($5)
		count = split($6, other, " ")
		for (i = 1; i <= count; i++)
			printf "<s %s></s>", (other[i] > 1 ? "class=\"beyond\"" : "style=\"left:" percent_of(other[i]) "\"")
		print "</i><small>" percent_text($5) " of the " escape(substr($7, 1, index($7 "; ", "; ") - 1)) "</small>"
	}
	print "</div>"
	next
}
$1 == "SPREAD" {
	split($4, within, " ")
	print "<div class=\"bar\"><b>" escape($2) "</b> <span>" escape($3) "</span><i class=\"spread\">"
	for (i = 3; i >= 1; i--)
		printf "<u class=\"w%d\" style=\"width:%s\"></u>", i, percent_of(within[i])
	print "</i><small>within 5 %: " percent_text(within[1]) ", 10 %: " percent_text(within[2]) ", 20 %: " percent_text(within[3]) "</small></div>"
	next
}
$1 == "PARAMETERS" { parameters($2, $3) }
END { list(0) }
