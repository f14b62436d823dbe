# SPDX-License-Identifier: MIT
# A figure of gnuplot made small: no empty groups, no attributes that repeat a default, one decimal of a pixel. Texts of gnuplot's
# hypertext become <title>, which browsers show at the pointer.   awk -f svg.awk FIGURE.svg
function short(text,   out) {
	while (match(text, /[0-9][.][0-9][0-9]+/)) {
		out = out substr(text, 1, RSTART + 2)
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}
{
	gsub(/[ \t]+/, " ")
	sub(/^ /, "")
	sub(/ $/, "")
	gsub(/ stroke-linecap="butt"| stroke-linejoin="miter"| font-family="sans-serif"| class="gridline"| id="[^"]*_plot_[0-9a-z]*" |<title>([a-z_0-9]*_plot_[0-9]|'[+]'|named[(]|file[(]|name[(]|"<)[^<]*<\/title>/, "")
	if (/'rgb\(/) {
		gsub(/rgb\(144, 144, 144\)/, "#909090")
		gsub(/rgb\( ?47, 116, 192\)/, "#2f74c0")
		gsub(/rgb\(213, ? ?94, ? ? ?0\)/, "#d55e00")
		gsub(/rgb\( ? ?0, 148, 107\)/, "#00946b")
		gsub(/rgb\(184, ? ?96, 158\)/, "#b8609e")
		gsub(/rgb\(128, 128, 128\)/, "#808080")
	}
	if (/<tspan >/ && !/<tspan [^>]/) {
		gsub(/<tspan >/, "")
		gsub(/<\/tspan>/, "")
	}
	if (sub(/^xmlns="http/, "font-family=\"sans-serif\" &") && frames != "")
		$0 = "data-frames='" frames "' " $0
	if (match($0, /showHypertext\(evt,'.*'\)" onmouseout/))
		$0 = "<g><title>" substr($0, RSTART + 19, RLENGTH - 33) "</title>"
	else if (/^[ML0-9]|[ >]d=|translate/)
		$0 = short($0)
}
$0 == "" || /^<desc>/ { next }
held != "" && $0 == "</g>" {
	held = ""
	next
}
{
	if (held != "")
		print held
	held = /^<g [^>]*>$/ ? $0 : ""
	if (held == "")
		print
}
