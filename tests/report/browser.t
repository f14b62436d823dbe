#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of a recorded machine, and that of two side by side, in a browser, from a phone to a desktop, light and dark: no error, nothing too wide, no text cut off,
# on another or too faint, and the table of parameters can be searched and sorted. Printed, the report has at most 12 pages.
. "$(dirname "$0")/../tap.sh"
for browser in chromium-headless-shell chromium chromium-browser google-chrome ''; do
	! command -v "$browser" >/dev/null || break
done
[ -n "$browser" ] || skip_all 'no Chromium here: make setup-develop'
command -v gnuplot >/dev/null || skip_all 'no gnuplot here'
make_scratch
HOME=$scratch
export HOME
browse() { # options, page
	"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --enable-logging=stderr --virtual-time-budget=20000 "$@" 2>"$scratch/log"
}

MACHINE=${recorded##*/} FATHOM_HOME=$root sh "$root/plots/report.sh" "$scratch/out" >/dev/null
result $? 'the pages are written'
pages='report papers'
if [ -x "$bin/compare" ]; then
	MACHINES='nvidia-h100 nvidia-h200' FATHOM_BIN=$bin FATHOM_HOME=$root sh "$root/plots/report.sh" "$scratch/out" >/dev/null
	result $? 'two machines side by side'
	pages="$pages side_by_side"
fi
for page in $pages; do
	{
		sed 's,</body>,,; s,</html>,,' "$scratch/out/report/$page.html"
		echo '<script>'
		cat "$root/tests/report/browser.js"
		echo '</script></body></html>'
	} >"$scratch/$page.html"
	for width in 400 900 1400; do
		for scheme in 1 0; do # light, dark
			browse --window-size=$width,900 --blink-settings=preferredColorScheme=$scheme --dump-dom "file://$scratch/$page.html" >"$scratch/dom"
			sed -n '/<pre>/,/<\/pre>/p' "$scratch/dom" | sed 's/.*<pre>//; s/<\/pre>.*//' >"$scratch/found"
			[ "$(cat "$scratch/found")" = checked ]
			result $? "$page.html, $width pixels, $([ $scheme = 1 ] && echo light || echo dark)"
			head -n 12 "$scratch/found" | sed 's/^/# /' >&2
			! grep -E 'CONSOLE|ERR_' "$scratch/log"
			result $? 'no message in its console'
		done
	done
done
browse --no-pdf-header-footer --print-to-pdf="$scratch/report.pdf" "file://$scratch/out/report/report.html"
pages=$(grep -a -c '/Type /Page$\|/Type /Page[^s]' "$scratch/report.pdf")
[ "$pages" -gt 3 ] && [ "$pages" -le 12 ]
result $? "printed, it has $pages pages"
echo "1..$number"
