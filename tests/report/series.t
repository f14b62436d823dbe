#!/bin/sh
# SPDX-License-Identifier: MIT
# The series of figures, from a curve with empty cells: arguments not given, a single sample's interval, no clock.

. "$(dirname "$0")/../tap.sh"

plots=$(cd "$(dirname "$0")/../.." && pwd)/plots
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
tab=$(printf '\t')
cat >"$scratch/curve.tsv" <<CURVE
# probe: made_up
series${tab}bytes${tab}width${tab}process${tab}seconds${tab}low_seconds${tab}high_seconds${tab}samples${tab}discarded${tab}disturbed${tab}sm_hz${tab}busy
one${tab}64${tab}${tab}0${tab}2e-06${tab}${tab}${tab}1${tab}0${tab}0${tab}${tab}0
one${tab}64${tab}${tab}1${tab}3e-06${tab}2.5e-06${tab}3.5e-06${tab}9${tab}0${tab}0${tab}1980000000${tab}0
one${tab}128${tab}${tab}0${tab}${tab}${tab}${tab}0${tab}7${tab}0${tab}${tab}0
CURVE
awk -v folder="$scratch" -f "$plots/series.awk" "$scratch/curve.tsv"
expect 0 "^64${tab}NaN${tab}2.5e-06${tab}2e-06${tab}3.5e-06\$" 'a missing argument is NaN, a single sample its own interval' \
	cat "$scratch/one.tsv"
expect 0 '^2$' 'a point without samples is left out' grep -c . "$scratch/one.tsv"
if command -v gnuplot >/dev/null; then
	expect 0 '<svg' 'gnuplot draws it' gnuplot -e "work='.'; out='$scratch/figure.svg'; name='figure'" "$plots/style.gp" \
		-e "plot '$scratch/one.tsv' using 'bytes':'seconds':'low':'high' with yerrorlines; print '<svg'"
else
	report ok 'gnuplot draws it # SKIP no gnuplot'
fi
echo "1..$number"
