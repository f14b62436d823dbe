#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of two machines side by side, and Table 1 and Figure 9 of LAWN 202 with recorded machines.
. "$(dirname "$0")/../tap.sh"
make_scratch
unset MACHINE FATHOM_DATA
FATHOM_HOME=$root
export FATHOM_HOME

# ---- Table 1
table_1() { # folders, awk
	${2:-awk} -v papers="$root/data/papers" -v folders="$1" -f "$root/plots/common.awk" -f "$root/plots/lawn_machines.awk"
}
table_1 "$(for file in "$root"/data/*/profile.tsv; do dirname "$file"; done | paste -s -d '|' -)" >"$scratch/table"
says() { # FILE PATTERN WHAT
	grep -q -e "$2" "$1"
	result $? "$3"
}
for file in "$root"/data/*/profile.tsv; do
	name=$(basename "$(dirname "$file")")
	says "$scratch/table" "^ROW		$name	" "Table 1 has $name"
done
says "$scratch/table" '^ROW		8800GTX	16	1.35	0.346	-	86	0.77	16	' 'and the paper'"'"'s GPUs'
# 132 SMs x 128 FMAs x 2 x 1.98 GHz = 66.8 to 66.9 Tflop/s; 4 x 66.8 / 4.814 = 55.5 flops a word; 4 x 66.8 / 4.49 = 59.5
says "$scratch/table" '^ROW		nvidia-h200	132	1.98	66.[89]	66.[89]	4814	150	5[56]	111	\(5[789]\|60\)	' 'peaks, pins, flops a word, the smallest tile'
says "$scratch/table" '^ROW		nvidia-h200-sms-16	16	1.98	8.11	8.11	-	150	-	' 'what a machine did not record is left open'
for awk in mawk gawk original-awk 'busybox awk'; do
	! command -v ${awk%% *} >/dev/null || [ "$(table_1 "$root/data/nvidia-h100|$root/data/nvidia-h200" "$awk" | grep -c '^ROW')" -eq 6 ]
	result $? "$awk: the same table"
done

# ---- Figure 9: several GPUs
mkdir "$scratch/two"
{
	printf 'operation\tvariant\tprecision\tmath\tm\tn\toptions\texecutor\tseconds\tgflops\n'
	awk -v OFS='\t' '{ print "getrf", "gpu", "s", $1, 16384, 16384, "l2=warm,gpus=" $2, "cuda", $3, $4 }' <<-ROWS
		fp32 1 0.15 20000
		fp32 2 0.1 30000
		3xtf32 2 0.05 60000
	ROWS
} >"$scratch/two/several_gpus.tsv"
awk -v papers="$root/data/papers" -v folders="$recorded|$scratch/two" -f "$root/plots/common.awk" -f "$root/plots/bench.awk" \
	-f "$root/plots/lawn_several.awk" >"$scratch/table"
says "$scratch/table" '^ROW		two 8800GTX	LU, single	18000	2	0.3	1.67$' 'two GPUs of the paper'
says "$scratch/table" '^ROW		two	LU, single	16384	2	30	1.50$' 'beside a machine with two'
says "$scratch/table" '^ROW		two	LU, single, 3xtf32	16384	2	60	-$' 'without a ratio where one GPU was not measured'

# ---- the page
page() { # machines
	MACHINES=$1 FATHOM_BIN=$bin sh "$root/plots/report.sh" "$scratch/out"
}
expect 1 "names no two machines with data" 'one machine is not two' page nvidia-h200
expect 1 "names no two machines with data" 'nor is one that is not there' page 'nvidia-h200 nowhere'
expect 1 'need the program compare' 'without the program: what to do' env MACHINES='nvidia-h100 nvidia-h200' FATHOM_BIN="$scratch" \
	sh "$root/plots/report.sh" "$scratch/out"
if [ ! -x "$bin/compare" ] || ! command -v gnuplot >/dev/null; then
	echo "1..$number"
	exit
fi
expect 0 "^$scratch/out/report/side_by_side.html\$" 'two machines, and the path in the last line' page 'nvidia-h100 nvidia-h200'
text=$scratch/out/report/side_by_side.txt
html=$scratch/out/report/side_by_side.html
sed -n '/^nvidia-h100: /,/^nvidia-h200: /p' "$text" | sed '$d' >"$scratch/first"
sed -n '/^nvidia-h200: /,/^What does each/p' "$text" >"$scratch/second"
says "$scratch/first" 'copy in device memory.*: 3.01 TB/s' 'the first machine has its own numbers'
says "$scratch/second" 'copy in device memory.*: 4[.]2[0-9] TB/s' 'the second, too'
! grep -q 'h200\|4[.]2[0-9] TB' "$scratch/first" && ! grep -q 'h100\|3[.]01 TB' "$scratch/second"
result $? 'and none of the other one'
says "$text" '^    *[0-9.]* ms  *[0-9.]* ms  *1[.][0-9]*  *1[.][0-9]* .. 1[.][0-9]*  faster *update on both' 'operations: times, speed, interval, limits'
says "$text" '^- A x of 16384: 1.4[0-9] times the speed (.*), limited by memory on both' 'those that differ as sentences'
says "$text" '^gpu.dram.copy  *3.01 TB/s  *4[.]2[0-9] TB/s  *1[.]4[0-9] ' 'parameters'
says "$text" '^nvidia-h200  *132 .* 4814 ' 'Table 1 of both'
! grep -q 'nvidia-h200-sms' "$text"
result $? 'and of no other machine'
awk 'length > 100 { exit 1 }' "$text"
result $? 'at most 100 columns'
[ "$(wc -l <"$scratch/out/report/side_by_side.tsv")" -gt 4000 ]
result $? 'a file with every parameter'
for name in operations start memory inside links instructions host panel factor_s factor_d; do
	figure=$scratch/out/report/figures/both_$name.svg
	[ "$(grep -o 'nvidia-h[12]00' "$figure" 2>/dev/null | sort -u | wc -l)" -eq 2 ]
	result $? "the figure both_$name names both machines"
done
! grep -q '<script [^>]*src\|<link\|<img\|url(\|href="https*:' "$html"
result $? 'the page loads nothing'
[ -z "$(grep -o ' id=["'"'"'][^"'"'"']*["'"'"']' "$html" | sort | uniq -d)" ]
result $? 'its ids are unique'

# ---- by the program
if [ -x "$bin/report" ]; then
	expect 0 'side_by_side.html' 'fathom report --machines' "$bin/report" --machines 'nvidia-h200-x2 nvidia-h200' --output "$scratch/x2"
	says "$scratch/x2/report/side_by_side.txt" '^nvidia-h200-x2  *132 ' 'a machine without benchmarks has what it has'
	expect 2 'not both' '--machine and --machines' "$bin/report" --machine nvidia-h200 --machines 'nvidia-h100 nvidia-h200'
fi
echo "1..$number"
