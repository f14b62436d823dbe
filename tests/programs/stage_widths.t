#!/bin/sh
# SPDX-License-Identifier: MIT
# measure --bench --only widths on the host: rows of stages, sums and whole factorizations, and their table in the papers' page.
. "$(dirname "$0")/../tap.sh"
needs measure
make_scratch
export CUDA_VISIBLE_DEVICES=
bench=$scratch/bench.tsv

widths() { "$bin/measure" --bench --only widths --quick --output "$scratch" "$@"; }
# count WHAT WANT CONDITION: rows of the file, an awk condition over the columns by number
count() {
	got=$(awk -F '\t' "!/^#/ && ($3) { n++ } END { print n + 0 }" "$bench")
	[ "$got" -eq "$2" ]
	result $? "$1: $got rows"
}
expect 0 '^host  *256  *[0-9.]*  *[0-9.]*  *[0-9.]* ' "sum, time of the sequence, and of one width" widths
expect 0 '^geqrf$' "QR alone" sh -c "sed -n 's/^[a-z]*_\\(.*rf\\)	.*/\\1/p' '$bench' | sort -u"
# Widths 32, 64 and 128: three single blocks and nine pairs at 256 columns; at fewer columns those that fit, or fit exactly.
count 'stages at the largest order' 12 '$1 == "stage_geqrf" && $6 == 256 && $13 > 0'
count 'fewer at the shortest' 1 '$1 == "stage_geqrf" && $6 == 32'
count 'they end behind their reflectors' 0 '$1 == "stage_geqrf" && !index($12, "stop=" $7)'
count 'sums of the sequence and of three widths' 4 '$1 == "widths_geqrf" && $2 == "stages" && $13 > 0'
count 'their factorizations, with residuals' 4 '$1 == "widths_geqrf" && $2 == "hybrid" && $13 > 0 && $18 > 0 && $18 < 30 && $19 < 30'
count 'one of them by the sequence' 1 '$1 == "widths_geqrf" && $2 == "hybrid" && $10 ~ /plan=stages/'
awk -F '\t' '$1 == "widths_geqrf" && $2 == "stages" { if ($10 ~ /plan=stages/) sum = $13; else if (!least || $13 < least) least = $13 }
	END { exit !(sum > 0 && sum <= least * 1.000001) }' "$bench"
result $? 'no single width has a smaller sum'
before=$(grep -v '^#' "$bench" | sort)
expect 0 'rows kept' "again" widths
[ "$before" = "$(grep -v '^#' "$bench" | sort)" ]
result $? "keeps what was there"
expect 0 'nothing\|rows' "beyond what the host has" "$bin/measure" --bench --only widths --quick --smallest 1024 --output "$scratch"
[ "$before" = "$(grep -v '^#' "$bench" | sort)" ]
result $? "adds no row"
for awk in mawk gawk original-awk 'busybox awk'; do
	! command -v ${awk%% *} >/dev/null || [ "$($awk -v data="$scratch" -v papers="$root/data/papers" -f "$root/plots/common.awk" \
		-f "$root/plots/lawn_widths.awk" | grep -c '^ROW		\(8800GTX	from 4096\|host	256\)	')" -eq 2 ]
	result $? "$awk: a table beside the paper's gain"
done
echo "1..$number"
