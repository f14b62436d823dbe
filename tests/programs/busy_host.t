#!/bin/sh
# SPDX-License-Identifier: MIT
# Where other programs take the host's time from host_rate, level-1 and level-2 calls still have their first and last
# rows, in both precisions: between them the model interpolates, beyond them it would guess.

. "$(dirname "$0")/../tap.sh"
needs host_rate
scratch=$(mktemp -d) || exit 1
busy=
trap 'kill $busy 2>/dev/null; rm -rf "$scratch"' EXIT
cores=$(nproc)
while [ "$cores" -gt 0 ]; do
	(while :; do :; done) &
	busy="$busy $!"
	cores=$((cores - 1))
done
expect 0 '' 'host_rate on busy cores' "$bin/host_rate" --quick --output "$scratch"
# shellcheck disable=SC2086 # a list of numbers
kill $busy
for call in iamax scal ger swap; do
	for precision in s d; do
		series=${call}_$precision
		expect 0 '^128 2048 $' "$series from the first to the last row" \
			sh -c "grep '^$series	' '$scratch/host_rate.tsv' | cut -f 2 | sort -nu | sed -n '1p;\$p' | tr '\n' ' '"
	done
done
echo "1..$number"
