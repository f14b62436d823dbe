#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of a recorded machine, and that of two side by side, in a browser, from a phone to a desktop, light and dark: no error, no
# request that leaves the page, nothing too wide, no text cut off, on another or too faint; the Tab key visits all that can be used, in
# order and visibly; numbers have their units; the table of parameters can be searched and sorted. Printed, the report has at most 12 pages,
# also that of a CPU beside a recorded machine.
# One browser for all, by the DevTools protocol over a pipe: messages end with a zero byte.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/page.sh"
for browser in chromium-headless-shell chromium chromium-browser google-chrome ''; do
	! command -v "$browser" >/dev/null || break
done
[ -n "$browser" ] || skip_all 'no Chromium here: make setup-develop'
command -v gnuplot >/dev/null || skip_all 'no gnuplot here'
command -v jq >/dev/null || skip_all 'no jq here'
make_scratch
HOME=$scratch
export HOME

MACHINE=${recorded##*/} FATHOM_HOME=$root sh "$root/plots/report.sh" "$scratch/out" >/dev/null
result $? 'the pages are written'
pages='report papers'
if [ -x "$bin/compare" ]; then
	MACHINES='nvidia-h100 nvidia-h200' FATHOM_BIN=$bin FATHOM_HOME=$root sh "$root/plots/report.sh" "$scratch/out" >/dev/null
	result $? 'two machines side by side'
	pages="$pages side_by_side"
fi

# ---- the browser: what it answers and reports stays in $scratch/events

mkfifo "$scratch/commands"
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" --remote-debugging-pipe \
	3<"$scratch/commands" 4>"$scratch/events" 2>"$scratch/log" &
process=$!
exec 9>"$scratch/commands"
trap 'kill $process 2>/dev/null; wait $process 2>/dev/null; rm -rf "$scratch"' EXIT
id=0
session=
send() { # method, parameters
	id=$((id + 1))
	printf '{"id":%d%s,"method":"%s","params":%s}\0' $id "${session:+,\"sessionId\":\"$session\"}" "$1" "$2" >&9
}
ask() { # method, parameters, jq's view of the answer, which becomes $answer
	send "$1" "$2"
	tries=0
	until grep -az "^{\"id\":$id," "$scratch/events" | tr -d '\0' >"$scratch/reply" && [ -s "$scratch/reply" ] && jq -e .id "$scratch/reply" >/dev/null 2>&1; do
		if [ $((tries += 1)) -gt 600 ] || ! kill -0 $process; then
			result 1 "an answer to $1"
			exit 1
		fi
		sleep 0.05
	done
	answer=$(jq -r "if .error then .error.message else $3 end" "$scratch/reply")
}
evaluate() { # expression
	ask Runtime.evaluate "$(jq -cn --arg text "$1" '{expression: $text, awaitPromise: true, returnByValue: true}')" \
		'.result | if .exceptionDetails then .exceptionDetails | tojson else .result.value // "" end'
}
empty() { # what: findings in $answer
	[ -z "$answer" ]
	result $? "$1"
	[ -z "$answer" ] || echo "$answer" | head -n 12 | sed 's/^/# /' >&2
}
visit() { # page
	ask Page.navigate "{\"url\":\"file://$scratch/out/report/$1.html\"}" .id
	evaluate 'new Promise((done) => document.readyState === "complete" ? done() : addEventListener("load", done))'
}
look() { # width, scheme
	send Emulation.setDeviceMetricsOverride "{\"width\":$1,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"
	send Emulation.setEmulatedMedia "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$2\"}]}"
}
press_tab() { # times
	for each in $(seq "$1"); do
		send Input.dispatchKeyEvent '{"type":"rawKeyDown","key":"Tab","code":"Tab","windowsVirtualKeyCode":9}'
		send Input.dispatchKeyEvent '{"type":"keyUp","key":"Tab","code":"Tab","windowsVirtualKeyCode":9}'
	done
	ask Input.dispatchKeyEvent '{"type":"keyUp","key":"Shift","code":"ShiftLeft","windowsVirtualKeyCode":16}' .id
}
tabs() { # what
	evaluate 'begin_tabs()'
	press_tab "$answer"
	evaluate 'visited()'
	empty "$1"
}
ask Target.createTarget '{"url":"about:blank"}' .result.targetId
ask Target.attachToTarget "{\"targetId\":\"$answer\",\"flatten\":true}" .result.sessionId
session=$answer
for domain in Runtime Log Page Network; do
	send $domain.enable '{}'
done
script=$(cat "$root/tests/report/browser.js")
for page in $pages; do
	visit "$page"
	evaluate "$script"
	for state in opened unfolded; do
		[ $state = opened ] || evaluate 'unfold()'
		for width in 400 900 1400; do
			for scheme in light dark; do
				look $width $scheme
				evaluate 'check()'
				empty "$page.html, $state, $width pixels, $scheme"
			done
			[ $width = 900 ] || tabs "Tab, $page.html, $state, $width pixels"
		done
	done
	evaluate 'units()'
	empty "$page.html: no number of a table lacks its unit"
	evaluate 'contents()'
	empty "$page.html: values at points, search and order of parameters"
done
evaluate 'document.body.innerHTML = "<table><tr><th>load<th>value<tr><td>L1<td>3.5</table><p>It takes 3.5.</p>"; units()'
[ "$(echo "$answer" | grep -c 'no unit of')" -eq 2 ]
result $? 'a number without a unit is found'
grep -az '"method":"\(Runtime.exceptionThrown\|Runtime.consoleAPICalled\|Log.entryAdded\)"' "$scratch/events" >"$scratch/said"
answer=$(tr '\0' '\n' <"$scratch/said")
empty 'no message in the console'
grep -az '"method":"Network.requestWillBeSent"' "$scratch/events" | tr '\0' '\n' | jq -r .params.request.url | sort -u >"$scratch/asked"
[ "$(grep -c "^file://$scratch/out/report/" "$scratch/asked")" -eq "$(echo "$pages" | wc -w)" ]
result $? 'every page was loaded'
answer=$(grep -v "^file://$scratch/out/report/[a-z_]*.html\$" "$scratch/asked")
empty 'no request leaves them'

printed() { # what
	visit report
	ask Page.printToPDF '{"preferCSSPageSize":true}' .result.data
	echo "$answer" | base64 -d >"$scratch/report.pdf"
	pages=$(grep -a -c '/Type /Page$\|/Type /Page[^s]' "$scratch/report.pdf")
	[ "$pages" -gt 3 ] && [ "$pages" -le 12 ]
	result $? "printed, $1 has $pages pages"
}
printed report.html
cpu_of_recorded "$scratch/out"
FATHOM_HOME=$root sh "$root/plots/report.sh" "$scratch/out" report >/dev/null 2>&1
printed 'the page of a CPU beside a recorded GPU'
echo "1..$number"
