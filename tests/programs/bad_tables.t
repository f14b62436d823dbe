#!/bin/sh
# SPDX-License-Identifier: MIT
# Damaged input files of every kind: one sentence with file and line on stderr, nothing on stdout, the documented exit code.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/fixture.sh"
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA
needs advise predict measure validate fit
make_scratch
LC_ALL=C
export LC_ALL

# Files without a defect: a profile, predictions, measurements (of them), a curve, a kernel's description, counters.
good=$scratch/good
mkdir "$good"
fixture_profile host >"$good/profile.tsv"
{
	"$bin/predict" --quick --seed 7 --output "$good" &&
		awk '/^#/ || /^operation/ || (/^panel_getrf.*\t750\t/ && n++ < 4)' "$good/predictions.tsv" >"$scratch/few" &&
		mv "$scratch/few" "$good/predictions.tsv" && "$bin/measure" --quick --output "$good"
} >/dev/null 2>&1 || exit 1
cp "$recorded/host_parallel.tsv" "$root/tests/programs/kernel_counters.csv" "$good"
printf 'blocks 1056\nthreads 256\n# a copy\ndram 1GB:1GB\n' >"$good/copy.work"

run() { # FILE: the program that reads it; the exit code of a bad one
	case ${1##*/} in
	profile.tsv) want=1 && "$bin/advise" panel --m 512 --nb 32 --output "${1%/*}" ;;
	predictions.tsv | measurements.tsv) want=1 && "$bin/validate" --recorded --output "${1%/*}" ;;
	*.work) want=2 && "$bin/advise" kernel --output "$recorded" --file "$1" ;;
	*.csv) want=2 && "$bin/advise" kernel --output "$recorded" --ncu "$1" ;;
	*) want=1 && "$bin/fit" --output "${1%/*}" ;;
	esac
}

# bad FILE WORDS WHAT: the file as the script on standard input (awk) makes it of the good one
bad() {
	rm -rf "$scratch/bad"
	cp -R "$good" "$scratch/bad"
	[ "${1%.*}" = host_parallel ] || rm "$scratch/bad/host_parallel.tsv"
	cat >"$scratch/script"
	awk -F '\t' -v OFS='\t' -f "$scratch/script" "$good/$1" | tr '\001' '\377' >"$scratch/bad/$1"
	run "$scratch/bad/$1" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	grep -v ': warning: ' "$scratch/err" >"$scratch/said"
	[ $status -eq $want ] && [ "$(wc -l <"$scratch/said")" -eq 1 ] && grep -q -e "$1:$2" "$scratch/said" && [ ! -s "$scratch/out" ]
	result $? "$1: $3"
	[ $status -eq $want ] && grep -q -e "$1:$2" "$scratch/said" || echo "# status $status, want $want, '$1:$2': $(head -n 3 "$scratch/err")" >&2
}
# The first row stands in this line.
head_line() { awk '!/^#/ { print NR; exit }' "$good/$1"; }

# ---- every table
for file in profile.tsv predictions.tsv measurements.tsv host_parallel.tsv; do
	h=$(head_line $file)
	row=$((h + 1)) next=$((h + 2))
	bad $file "$row: fewer cells" 'a row that is cut' <<-A
		NR == $row { sub(/\t[^\t]*\$/, "") } { print }
	A
	bad $file "$next: the last line has no end" 'a file that is cut' <<-A
		NR < $next { print } NR == $next { printf "%s", substr(\$0, 1, 20) }
	A
	bad $file "$row: a byte that is not UTF-8" 'bytes that are not UTF-8' <<-A
		NR == $row { sub(/[a-z]/, "\001") } { print }
	A
	bad $file "$row: a control character" 'a control character' <<-A
		NR == $row { sub(/[a-z]/, "\033") } { print }
	A
	bad $file "$row: the line is longer than 1 MiB" 'a gigantic field' <<-A
		NR == $row { x = "xxxxxxxxxxxxxxxx"; for (i = 0; i < 16; i++) x = x x; \$1 = x } { print }
	A
	bad $file "$h: the column [a-z_]* stands twice" 'a column twice' <<-A
		NR == $h { \$2 = \$1 } { print }
	A
done

# ---- profiles
h=$(head_line profile.tsv)
row=$((h + 1))
bad profile.tsv "$row: .*the value does not lie between low and high" 'value and low swapped' <<-A
	NR == $row { x = \$2; \$2 = \$4; \$4 = x } { print }
A
bad profile.tsv "$row: .*low lies above high" 'low and high swapped' <<-A
	NR == $row { x = \$5; \$5 = \$4; \$4 = x } { print }
A
bad profile.tsv "$row: .*the unit is none of" 'an unknown unit' <<-A
	NR == $row { \$3 = "us" } { print }
A
bad profile.tsv "[0-9]*: host[.][^:]*: the unit is another one" 'rows of one function in two units' <<-A
	/^host.*[[]/ && n++ == 1 { \$3 = "B" } { print }
A
bad profile.tsv "[0-9]*: host.l2.size: the unit is another one than the model knows" 'a size in seconds' <<-A
	/^host.l2.size/ { \$3 = "s" } { print }
A
bad profile.tsv "[0-9]*: host.parallel.fork[^:]*: the value is below 0" 'a negative time' <<-A
	/^host.parallel.fork/ && !n++ { \$2 = \$4 = \$5 = -1e-6 } { print }
A
bad profile.tsv "[0-9]*: host.memory.copy.peak: the value is below 0" 'a negative rate' <<-A
	/^host.memory.copy.peak/ { \$2 = \$4 = -1e9 } { print }
A
bad profile.tsv "$row: .*the value is not a number" 'a value that is NaN' <<-A
	NR == $row { \$2 = "nan" } { print }
A
bad profile.tsv "$((row + 1)): .*the parameter stands twice" 'a row twice' <<-A
	NR == $row { print } { print }
A
bad profile.tsv "$row: x*: .*" 'a long name' <<-A
	NR == $row { x = "x"; for (i = 0; i < 16; i++) x = x x; \$1 = x " y" } { print }
A
bad profile.tsv "$row: .*samples is not a count" 'samples that are no number' <<-A
	NR == $row { \$6 = "many" } { print }
A

# ---- predictions and measurements
for file in predictions.tsv measurements.tsv; do
	row=$(($(head_line $file) + 1))
	bad $file "$row: m and n must be" 'columns swapped' <<-A
		NR == $row { x = \$5; \$5 = \$13; \$13 = x } { print }
	A
	bad $file "$row: the interval" 'low and high swapped' <<-A
		NR == $row { x = \$14; \$14 = \$15 + 1; \$15 = x } { print }
	A
	bad $file "$row: seconds must be positive" 'an infinite time' <<-A
		NR == $row { \$13 = \$14 = \$15 = "inf" } { print }
	A
	bad $file "$row: seconds must be positive" 'a negative time' <<-A
		NR == $row { \$13 = \$14 = \$15 = -1 } { print }
	A
	bad $file "$row: .*a number is none" 'words for a size' <<-A
		NR == $row { \$9 = "wide" } { print }
	A
	bad $file "$row: .*a number is none" 'a part of a column' <<-A
		NR == $row { \$7 = 2.5 } { print }
	A
	bad $file "$row: .*a number is none" 'a size below 0' <<-A
		NR == $row { \$7 = -3 } { print }
	A
	bad $file "$row: .*a number is none" 'a time with a unit' <<-A
		NR == $row { \$14 = \$14 "s" } { print }
	A
	bad $file "$((row + 1)): the same case as in line $row" 'a row twice' <<-A
		NR == $row { print } { print }
	A
	bad $file "$row: a text is longer" 'a long text' <<-A
		NR == $row { x = "x"; for (i = 0; i < 10; i++) x = x x; \$21 = x } { print }
	A
	bad $file "$row: math is none of" 'an unknown math' <<-A
		NR == $row { \$4 = "fp8" } { print }
	A
done

# ---- curves
row=$(($(head_line host_parallel.tsv) + 1))
seconds=$(awk -F '\t' '!/^#/ { for (i = 1; $i != "seconds"; i++); print i; exit }' "$good/host_parallel.tsv")
bad host_parallel.tsv "$row: seconds 'quick': no number" 'words for a time' <<-A
	NR == $row { \$$seconds = "quick" } { print }
A
bad host_parallel.tsv "$row: seconds 'inf': no number" 'an infinite time' <<-A
	NR == $row { \$$seconds = "inf" } { print }
A
bad host_parallel.tsv "$row: seconds do not lie between" 'columns swapped' <<-A
	NR == $row { x = \$$seconds; \$$seconds = \$($seconds + 2); \$($seconds + 2) = x / 2 } { print }
A
bad host_parallel.tsv "$row: process '-1': no whole number" 'a negative process' <<-A
	NR == $row { \$($seconds - 1) = -1 } { print }
A
bad host_parallel.tsv "$row: series '': there is no series" 'no series' <<-A
	NR == $row { \$1 = "" } { print }
A

# what a fit finds has no line: the parameter is named
fits() { # PROBE WORDS WHAT [MACHINE]: the curve as the script makes it of the recorded one
	rm -rf "$scratch/fit"
	mkdir "$scratch/fit"
	cat >"$scratch/script"
	awk -F '\t' -v OFS='\t' -f "$scratch/script" "$root/data/${4-nvidia-h200}/$1.tsv" >"$scratch/fit/$1.tsv"
	expect 1 "$2" "$1.tsv: $3" "$bin/fit" --output "$scratch/fit"
	[ ! -e "$scratch/fit/profile.tsv" ]
	result $? 'no profile is written'
}
fits instruction 'a curve has a series for gpu.* which is no parameter' 'a series with a strange name' <<-'A'
	!/^#/ { sub(/^special/, "s~ecial") } { print }
A
fits gemv_rate 'a curve has a row for .* without m: measure it again' 'a row without an argument' <<-'A'
	/^series/ { for (m = 1; $m != "m"; m++); } /^[^#]/ && !/^series/ && n++ == 3 { $m = "" } { print }
A
fits peer 'a curve has a row for .* without from: measure it again' 'a link without its end' nvidia-h200-x2 <<-'A'
	/^series/ { for (from = 1; $from != "from"; from++); } /^copy/ { $from = "" } { print }
A

# ---- descriptions of kernels, and counters
bad copy.work "4: dram: .1GBit. is not a number with a known unit" 'an unknown unit' <<-'A'
	{ sub(/1GB:/, "1GBit:"); print }
A
bad copy.work "2: blocks stands twice" 'a key twice' <<-'A'
	{ print } NR == 1 { print "blocks 3" }
A
bad copy.work "3: a line of [0-9]* letters" 'a gigantic comment' <<-'A'
	NR == 3 { x = "x"; for (i = 0; i < 14; i++) x = x x; $0 = "# " x } { print }
A
bad copy.work "3: a byte that is no text" 'bytes that are not UTF-8' <<-'A'
	{ sub(/copy/, "\001"); print }
A
bad copy.work "1: blocks: .nan. is not a number" 'NaN' <<-'A'
	{ sub(/1056/, "nan"); print }
A
bad kernel_counters.csv "6: a byte that is no text" 'bytes that are not UTF-8' <<-'A'
	NR == 6 { sub(/smooth/, "\001") } { print }
A
bad kernel_counters.csv "7: the launch [0-9]* stands twice" 'a row twice' <<-'A'
	NR == 6 { print } { print }
A
bad kernel_counters.csv "6: a line too long" 'a gigantic field' <<-'A'
	NR == 6 { x = "xxxxxxxxxxxxxxxx"; for (i = 0; i < 16; i++) x = x x; sub(/smooth/, x) } { print }
A
bad kernel_counters.csv "6: the last line has no end" 'a file that is cut' <<-'A'
	NR < 6 { print } NR == 6 { printf "%s", substr($0, 1, length($0) - 2) }
A
echo "1..$number"
