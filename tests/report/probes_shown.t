#!/bin/sh
# SPDX-License-Identifier: MIT
# What a figure and a table show of probes is in the recorded curve and in the profile.
. "$(dirname "$0")/../tap.sh"
make_scratch
plots=$root/plots

# The figure leaves out all other numbers of swaps.
swaps=$(sed -n 's/.*where("swaps", \([0-9]*\)).*/\1/p' "$plots/block_kernel.gp")
for cold in 0 1; do
	awk -F '\t' -v swaps="$swaps" -v cold="$cold" '
		/^#/ { next }
		$1 == "series" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == "laswp_s" && $(at["swaps"]) == swaps && $(at["cold"]) == cold { found = 1 }
		END { exit !found }' "$recorded/block_kernel.tsv"
	result $? "block_kernel.gp shows a number of swaps that the curve has, cold=$cold"
done
grep -q "below.*: $swaps row swaps\|Below.*: $swaps row swaps" "$plots/block_kernel.gp"
result $? 'and its text says how many'

awk -v data="$recorded" -v papers="$root/data/papers" -f "$plots/common.awk" -f "$plots/lawn_probes.awk" >"$scratch/table"
for ways in 2 4; do
	awk -F '\t' -v ways="$ways" '
		$4 ~ "conflict of [0-9] ways" { inside = 1 }
		inside && $4 ~ "of " ways " ways" && $7 > 0.9 * ways && $7 < 1.1 * ways { found = 1 }
		END { exit !found }' "$scratch/table"
	result $? "the table of LAWN 202's probes has a bank conflict of $ways ways"
done
echo "1..$number"
