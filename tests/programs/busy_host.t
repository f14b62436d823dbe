#!/bin/sh
# SPDX-License-Identifier: MIT
# Where other programs take the host's time from host_rate, level-1 and level-2 calls still have their first and last
# rows, in both precisions: between them the model interpolates, beyond them it would guess. Cases that are measured while
# other programs take the host's time from them are disturbed, and no verdict; or they have had enough runs to themselves.

. "$(dirname "$0")/../tap.sh"
needs host_rate probe fit predict measure validate
scratch=$(mktemp -d) || exit 1
busy=
trap 'kill $busy 2>/dev/null; rm -rf "$scratch"' EXIT
# A profile of the host without those programs, and a few cases of it.
"$bin/probe" --quick --output "$scratch/run" >/dev/null 2>&1 && "$bin/fit" --output "$scratch/run" >/dev/null 2>&1 &&
	"$bin/predict" --quick --output "$scratch/run" >/dev/null 2>&1
awk '/^#/ || /^operation/ || (/^gramschmidt/ && /seed=/ && !/level=/ && ++n <= 4)' "$scratch/run/predictions.tsv" >"$scratch/few"
mv "$scratch/few" "$scratch/run/predictions.tsv"
cp -r "$scratch/run" "$scratch/quiet"
expect 0 ' 0 failed' 'Gram-Schmidt without them' "$bin/measure" --quick --output "$scratch/quiet"
cores=$(nproc)
while [ "$cores" -gt 0 ]; do
	(while :; do :; done) &
	busy="$busy $!"
	cores=$((cores - 1))
done
expect 0 '' 'host_rate on busy cores' "$bin/host_rate" --quick --output "$scratch"
expect 0 ' 0 failed' 'Gram-Schmidt on busy cores' "$bin/measure" --quick --output "$scratch/run"
# shellcheck disable=SC2086 # a list of numbers
kill $busy
busy=
# Cases that are not disturbed, with the ratio to their time before.
awk -F '\t' '{ key = $1 FS $2 FS $3 FS $5 FS $6 FS $9 FS $10 }
	$1 != "gramschmidt" || $NF ~ /disturbed/ { next }
	NR == FNR { quiet[key] = $13; next }
	{ print (key in quiet) ? $13 / quiet[key] : 1 }' "$scratch/quiet/measurements.tsv" "$scratch/run/measurements.tsv" >"$scratch/undisturbed"
rows=$(grep -c '^gramschmidt' "$scratch/run/measurements.tsv")
count=$(wc -l <"$scratch/undisturbed")
[ "$rows" -gt 0 ] && awk '$1 > 1.3 || $1 < 0.7 { bad = 1 } END { exit bad }' "$scratch/undisturbed"
result $? "its $rows cases are disturbed, or take as long as before: $(paste -sd ' ' "$scratch/undisturbed")"
expect 0 "drawn shapes: .* $count cases" 'and disturbed ones are no verdict' "$bin/validate" --recorded --output "$scratch/run"
for call in iamax scal ger swap; do
	for precision in s d; do
		series=${call}_$precision
		expect 0 '^128 2048 $' "$series from the first to the last row" \
			sh -c "grep '^$series	' '$scratch/host_rate.tsv' | cut -f 2 | sort -nu | sed -n '1p;\$p' | tr '\n' ' '"
	done
done
echo "1..$number"
