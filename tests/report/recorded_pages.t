#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of a recorded machine, with damaged rows: sizes, times, chapters, figures, the papers' items.
. "$(dirname "$0")/../tap.sh"
make_scratch
unset MACHINE FATHOM_DATA
FATHOM_HOME=$root
export FATHOM_HOME
. "$root/tests/report/page.sh"

command -v gnuplot >/dev/null || skip_all 'no gnuplot here'
mkdir "$scratch/whole"
cp "$recorded"/*.tsv "$recorded"/*.svg "$scratch/whole"
printf '1.5e9\t1\ts\t1\t1\t3\tdamaged\thardware\tok\n\t2\ts\t1\t1\t3\tdamaged\thardware\tok\n' >>"$scratch/whole/profile.tsv"
heading() { # title, file
	says "$2" "<h2 [^>]*>.*$1" "chapter: $1"
}
page=$scratch/whole/report/report.html
cpu_of() { # page: seconds of processors that it takes to write it
	{ sh -c 'sh "$1" "$2" "$3" >/dev/null && times' sh "$root/plots/report.sh" "$scratch/whole" "$1" || echo 0m999s; } |
		tail -n 1 | tr 'ms' '  ' | awk '{ print 60 * $1 + $2 + 60 * $3 + $4 }'
}
at_most() { # number, limit, what
	[ "$(echo "$1" | awk -v most="$2" '{ print ($1 > 0 && $1 <= most) }')" = 1 ]
	result $? "$3: $1, at most $2"
}
outside() { # texts of the figures beyond an edge
	awk '
		match($0, /viewBox="0 0 [0-9]+ [0-9]+"/) { split(substr($0, RSTART, RLENGTH), box, /[ "]/) }
		match($0, /<g transform="translate[(][-0-9.]+,[-0-9.]+/) { split(substr($0, RSTART, RLENGTH), at, /[(,]/) }
		/<text>/ && (at[2] < 0 || at[2] + 0 > box[4] + 0 || at[3] < 8 || at[3] + 0 > box[5] - 2)'
}

at_most "$(cpu_of report)" 10 'processor seconds of report.html: 5 s on two'
at_most "$(cpu_of papers)" 20 'processor seconds of papers.html: 10 s on two'
at_most "$(wc -c <"$page")" 2500000 'bytes of report.html'
at_most "$(wc -c <"$scratch/whole/report/papers.html")" 5000000 'bytes of papers.html'
cpu_of_recorded "$scratch/cpu"
sh "$root/plots/report.sh" "$scratch/cpu" report >/dev/null 2>&1
says "$scratch/cpu/report/report.html" 'GPU answers from the recorded' 'the page of a CPU beside that of the recorded GPU'
at_most "$(wc -c <"$scratch/cpu/report/report.html")" 2500000 'bytes of both'
for title in 'start work' 'memory' 'inside a kernel' 'transfers' 'instructions' 'host' 'panel' 'factorizations' 'time of a factorization' \
	'Update or refactor' 'Gram-Schmidt' 'model' 'papers' 'measured'; do
	heading "$title" "$page"
done
[ "$(grep -c '^<div class="bar"><b>.*</b>.*\(s\|p\) <small>' "$page")" -eq 8 ]
result $? 'eight numbers on the first screen'
[ "$(grep -c '^<li>.*<a href="#[a-z]*">why</a>' "$page")" -eq 10 ]
result $? 'ten rules on the first screen'
[ "$(grep -c '<a href="[^"]*.tsv">' "$page")" -ge 20 ]
result $? 'figures name their data'
says "$page" '<g><title>[^<]*Tflop/s</title>' 'and show values'
awk 'length > 100 { exit 1 }' "$scratch"/whole/report/*.txt
result $? 'at most 100 columns of text'
for kept in report papers; do
	for tag in div table tr td ul li details figure svg g text tspan template; do
		awk -v tag=$tag '{ opened += gsub("<" tag "[ >]", ""); closed += gsub("</" tag ">", "") }
			END { if (opened != closed) print tag, opened, closed }' "$scratch/whole/report/$kept.html"
	done
done >"$scratch/unclosed"
never "$scratch/unclosed" . "what is opened is closed $(cat "$scratch/unclosed")"
for kept in report papers; do
	if command -v tidy >/dev/null; then # font-family and font-size of <svg> are attributes that it does not know
		tidy -errors -quiet --drop-empty-elements no "$scratch/whole/report/$kept.html" 2>&1 | grep -v '<svg> proprietary attribute "font-' >"$scratch/invalid"
		never "$scratch/invalid" . "$kept.html is valid HTML $(head -n 3 "$scratch/invalid")"
	else
		report ok "$kept.html # SKIP no tidy here"
	fi
done
never "$page" '<pre' 'no raw curve is embedded'
ls "$scratch/whole/report/figures" >"$scratch/drawn"
for name in pointer_chase start memory panel_cuda panel_host factor_s factor_d vendor scaling trace_ update gram errors memory_system kerr gram_schmidt gram_host \
	small_gemm thin_gemm breakdown lawn_own; do
	grep -q "^$name" "$scratch/drawn" || echo "$name"
done >"$scratch/undrawn"
never "$scratch/undrawn" . 'every figure of a recorded machine, damaged rows or not'
cat "$scratch"/whole/report/figures/*.svg | outside >"$scratch/beyond"
never "$scratch/beyond" . 'no text of theirs is beyond an edge'
for row in inverses look-ahead row-major 'two levels' overlapped batched; do
	grep -q "<text>$row" "$scratch/whole/report/figures/lawn_own.svg" || echo "$row"
done >"$scratch/missed"
never "$scratch/missed" . "every row of the key of LAWN 202's own plans"
mkdir "$scratch/maps"
awk -v data="$recorded" -v folder="$scratch/maps" -f "$root/plots/common.awk" -f "$root/plots/update.awk" >"$scratch/drawn"
cat "$scratch/maps"/*_even.tsv | awk '$1 != "x" && ($1 != int($1) + 0.5 || $2 != int($2) + 0.5 || $3 + $4 != 1)' >"$scratch/crossing"
[ "$(cat "$scratch/maps"/*_even.tsv | wc -l)" -gt 6 ] && [ ! -s "$scratch/crossing" ]
result $? 'break-even runs along edges of cells'
MACHINE=nvidia-h200-x2 sh "$root/plots/plots.sh" "$scratch/two" scaling factor_s memory >"$scratch/said" 2>&1
figures=$scratch/two/report/figures
says "$figures/scaling.svg" '<text>LU 65536<' 'several GPUs: the sizes that were measured'
never "$figures/scaling.svg" 'LU 2048\|LU 4096\|32768 x 32768' 'not those of a quick run'
says "$figures/factor_s.svg" '<text>product<' 'without whole calls: the library has its name'
never "$figures/memory.svg" 'random chain' 'no panel without a curve'
papers=$scratch/whole/report/papers.txt
says "$papers" '^total  *4430  *[0-9.]*  *[0-9.]*  *7629  ' 'phases of QR beside those of the paper'
says "$papers" '^8192  *0.0503 .* 25.0 / 1.61 ' 'operations that the paper prints, and those counted'
says "$papers" '^GTX580  *2.0  *16  *772  *192 ' 'its GPUs beside recorded ones'
says "$papers" '^columns removed  *none  *[0-9]*  *[0-9.]*e-0[0-9]  *[0-9.]*e-0[0-9]' 'errors of changed factorizations'
for question in barrier panel update gram; do
	says "$scratch/whole/report/papers.html" "id=\"question-$question\"" "an answer: $question"
done
for kept in report papers; do
	grep -o ' id="[^"]*"' "$scratch/whole/report/$kept.html" | sort >"$scratch/ids"
	[ -z "$(uniq -d "$scratch/ids")" ]
	result $? "ids of $kept.html are unique"
	sed -n "s/.*	$kept[.]html#\([^	]*\)	.*/\1/p" "$root/data/papers/coverage.tsv" | sort -u >"$scratch/anchors"
	[ -s "$scratch/anchors" ] && while read -r anchor; do
		grep -q "^ id=\"$anchor\"$" "$scratch/ids" || echo "$anchor"
	done <"$scratch/anchors" >"$scratch/lost"
	[ ! -s "$scratch/lost" ]
	result $? "$kept.html has the $(wc -l <"$scratch/anchors") places of the papers' items $(cat "$scratch/lost")"
done

echo "1..$number"
