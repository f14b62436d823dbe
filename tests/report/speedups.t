#!/bin/sh
# SPDX-License-Identifier: MIT
# The speedups over cuSOLVER that the pages README.md and factor/library/README.md state are those of the recorded bench.tsv.
. "$(dirname "$0")/../tap.sh"
make_scratch
plots=$root/plots

# NAME<TAB>N<TAB>SPEEDUP of every cell of the report's table
awk -v data="$recorded" -v papers="$root/data/papers" -v table=yes -f "$plots/common.awk" -f "$plots/bench.awk" -f "$plots/vendor.awk" |
	awk -F '\t' '
		/^TABLE\tvendor\t/ { inside = 1; for (i = 5; i <= NF; i++) n[i - 1] = substr($i, 2); next }
		/^END/ { inside = 0 }
		inside && /^ROW/ { for (i = 4; i <= NF; i++) if ($i != "-") print $3 "\t" n[i] "\t" $i }' >"$scratch/recorded"
# The same of a page's tables, by names in lower case
cells() { # page
	awk -F '|' '
		$2 == " n " { for (i = 3; i < NF; i++) n[i] = $i + 0; next }
		!/^[|]/ { split("", n) }
		3 in n && $2 !~ /---/ {
			gsub(/^ +| +$/, "", $2)
			for (i = 3; i < NF; i++)
				if ($i ~ /[0-9]/)
					print tolower($2) "\t" n[i] "\t" $i + 0
		}' "$root/$1"
}
# agrees PAGE FEWEST WHAT: fastest=yes: single precision by the fastest math mode
agrees() {
	cells "$1" >"$scratch/stated"
	awk -F '\t' -v fewest="$2" -v fastest="$fastest" '
		FNR == 1 { file++ }
		{ name = tolower($1); if (fastest) sub(/, 3x.*/, "", name); key = name " " $2 }
		file == 1 { if ($3 + 0 > want[key] + 0) want[key] = $3; next }
		{ count++; off = $3 - want[key]; if (off * off > 1e-8) { wrong++; print "# " key ": " $3 ", recorded " want[key] >"/dev/stderr" } }
		END { exit wrong > 0 || count < fewest }' "$scratch/recorded" "$scratch/stated"
	result $? "$1: speedups of bench.tsv"
}
fastest=yes agrees README.md 42
fastest='' agrees factor/library/README.md 78
echo "1..$number"
