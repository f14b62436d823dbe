#!/bin/sh
# SPDX-License-Identifier: MIT
# Where other programs take the host's time from host_rate, level-1 and level-2 calls still have their first and last
# rows, in both precisions: between them the model interpolates, beyond them it would guess. Cases that are measured while
# other programs take the host's time from them are disturbed, and no verdict.

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
rows=$(grep -c '^gramschmidt' "$scratch/run/measurements.tsv")
[ "$rows" -gt 0 ] && [ "$(grep -c '^gramschmidt.*disturbed: ' "$scratch/run/measurements.tsv")" -eq "$rows" ]
result $? "its $rows cases are disturbed"
expect 0 'drawn shapes: 0 seeds, 0 cases' 'and no verdict' "$bin/validate" --recorded --output "$scratch/run"
for call in iamax scal ger swap; do
	for precision in s d; do
		series=${call}_$precision
		expect 0 '^128 2048 $' "$series from the first to the last row" \
			sh -c "grep '^$series	' '$scratch/host_rate.tsv' | cut -f 2 | sort -nu | sed -n '1p;\$p' | tr '\n' ' '"
	done
done
echo "1..$number"
