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

# The figure's SVG without its prolog, its ids made unique in the page.
function inline_svg(name, legend,   line, file, started) {
	file = figures "/" name ".svg"
	while ((getline line <file) > 0) {
		if (!started && line !~ /<svg/)
			continue
		if (!started)
			sub(/<svg/, "<svg role=\"img\" aria-label=\"" legend "\"", line)
		started = 1
		gsub(/gpPt|gpDot|gnuplot_canvas|greybox|textbox/, name "_&", line)
		print line
	}
	close(file)
}

$1 != "LI" { list(0) }
$1 == "H1" { print "<h1>" escape($3) "</h1>"; next }
$1 == "H2" || $1 == "H3" {
	level = substr($1, 2)
	print "<h" level " id=\"" $2 "\"><a href=\"#" $2 "\">" escape($3) "</a></h" level ">"
	next
}
$1 == "P" { print "<p>" escape($2) "</p>"; next }
$1 == "NOTE" { print "<p class=\"note\">" escape($2) "</p>"; next }
$1 == "LI" { list(1); print "<li>" escape($2) "</li>"; next }
$1 == "NAV" {
	print "<nav>"
	for (i = 2; i < NF; i += 2)
		print "<a href=\"#" $i "\">" escape($(i + 1)) "</a>"
	print "</nav>"
	next
}
$1 == "FIG" {
	legend = escape($3)
	print "<figure id=\"figure-" $2 "\"><div class=\"wide\">"
	inline_svg($2, legend)
	print "</div><figcaption>" legend "</figcaption></figure>"
	next
}
$1 == "TABLE" {
	id = $2
	columns = NF - 3
	print "<div class=\"wide table\"><table id=\"" id "\">" ($3 == "" ? "" : "<caption>" escape($3) "</caption>") "<thead><tr>"
	for (c = 1; c <= columns; c++) {
		text = $(c + 3)
		sub(/^!/, "", text)
		class[c] = text ~ /^>/ ? " class=\"number\"" : ""
		printf "<th%s>%s</th>", class[c], escape(substr(text, 2))
	}
	print "</tr></thead><tbody>"
	next
}
$1 == "ROW" {
	print "<tr" ($2 == "" ? "" : " class=\"" $2 "\"") ">"
	for (c = 1; c <= columns; c++) {
		text = escape($(c + 2))
		if (c == 1 && id ~ /^method-/)
			text = "<a href=\"#raw-" substr(id, 8) "-" text "\">" text "</a>"
		printf "<td%s>%s</td>", class[c], text
	}
	print "</tr>"
	next
}
$1 == "END" { print "</tbody></table></div>"; next }
$1 == "DETAILS" { print "<details><summary>" escape($2) "</summary>"; next }
$1 == "ENDDETAILS" { print "</details>"; next }
$1 == "RAW" {
	print "<details id=\"" $2 "\"><summary>" escape($3) "</summary><pre class=\"wide\">"
	while ((getline line <$3) > 0)
		print escape(line)
	close($3)
	print "</pre></details>"
}
END { list(0) }
