#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line that all programs share, tried on whatever programs were built.

. "$(dirname "$0")/../tap.sh"

# expect here: STATUS PATTERN WHAT COMMAND...: the exit status, and a line of stdout (status 0) or the one
# line of stderr that matches the pattern
expect() {
	want=$1 pattern=$2 what=$3
	shift 3
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	said=$scratch/out lines=1
	if [ "$want" -ne 0 ]; then
		said=$scratch/err
		lines=$(wc -l <"$scratch/err")
	fi
	if [ "$status" -eq "$want" ] && [ "$lines" -eq 1 ] && grep -q -e "$pattern" "$said"; then
		report ok "$what"
	else
		report "not ok" "$what"
		echo "# exit status $status, want $want; want '$pattern' in one line of: $(head -n 3 "$said")" >&2
	fi
}

set -- "$bin"/*
[ -x "$1" ] || skip_all "no programs in $bin"
make_scratch

for program in "$@"; do
	[ -x "$program" ] || continue
	name=${program##*/}
	expect 0 'default: ' "$name --help states defaults" "$program" --help
	"$program" --help | awk -v first="fathom $name" '
		length > 100 { print "# wide: " $0; bad = 1 }
		/^Examples:$/ { getline; example = index($0, first); if (options) bad = 1 }
		/^Options:$/ { options = 1 }
		END { exit bad || NR > 40 || !example }' >&2
	result $? "$name --help: examples first, at most 40 lines of at most 100 columns"
	expect 0 'Usage: ' "$name -h is the same" "$program" -h
	expect 0 '^fathom [0-9]' "$name --version" "$program" --version
	expect 0 '^--device$' "$name --list-options" "$program" --list-options
	expect 2 "'--device'" "$name names the option nearest to --devise=1" "$program" --devise=1
	expect 2 "'-Z'" "$name refuses -Z" "$program" -Z
	expect 2 'needs an argument' "$name --seed without its argument" "$program" --seed
	expect 2 'takes no argument' "$name --quick=yes" "$program" --quick=yes
	expect 2 'neither a number' "$name --device=-1" "$program" --device=-1
	expect 2 'neither a number' "$name --device=99999999999999999999" "$program" \
		--device=99999999999999999999
	expect 2 'whole number' "$name --seed=banana" "$program" --seed=banana
	expect 2 'empty' "$name --output=" "$program" --output=
	expect 1 'cannot write to standard output' "$name fails on a full disk" sh -c '"$1" --help >/dev/full' sh "$program"
	expect 1 'cannot write to standard output' "$name fails without an output" sh -c '"$1" --help >&-' sh "$program"
done

if [ -x "$bin/advise" ]; then
	"$bin/advise" kernel --help >"$scratch/kernel"
	[ "$(wc -l <"$scratch/kernel")" -le 40 ] && grep -q -e '--in-flight=BYTES' "$scratch/kernel" && ! "$bin/advise" --help | grep -q -e --in-flight
	result $? 'advise kernel --help explains its options, advise --help leaves them out'
fi
for name in predict validate; do
	[ ! -x "$bin/$name" ] || "$bin/$name" --help | tr -s ' \n' '  ' | grep -q -e '--seed=N of random data (default: a new one)'
	result $? "$name --help says that each run has a seed of its own"
done

# ---- programs that compute
full() { # program, options...
	what="$1 fails on a full disk, whatever it did"
	if [ ! -x "$bin/$1" ]; then
		report ok "$what # SKIP not built"
	elif "$bin/$@" >/dev/full 2>"$scratch/err" || [ $? -ne 1 ] || ! grep -q 'cannot write to standard output' "$scratch/err"; then
		report 'not ok' "$what"
	else
		report ok "$what"
	fi
}
full advise panel --m 512 --nb 32 --output "$recorded" --json
full trace getrf --n 512 --output "$recorded"
full compare "$recorded" "$recorded"
full machine --output "$scratch/machine"
mkdir "$scratch/run"
cp "$recorded"/profile.tsv "$recorded"/predictions.tsv "$recorded"/measurements.tsv "$recorded"/copy.tsv "$scratch/run"
# a few predictions suffice, and are the ones that were measured
head -n 100 "$recorded/predictions.tsv" >"$scratch/run/predictions.tsv"
sum=$(sha256sum <"$scratch/run/predictions.tsv" | cut -d ' ' -f 1)
sed -i "s/^# predictions_sha256: .*/# predictions_sha256: $sum/" "$scratch/run/measurements.tsv"
full validate --recorded --output "$scratch/run"
if [ -x "$bin/validate" ]; then
	"$bin/validate" --recorded --output "$scratch/run" >"$scratch/out" 2>&1 <&-
	[ $? -eq 0 ] && grep -q 'errors.tsv' "$scratch/out" && report ok 'checksums without standard input' ||
		report 'not ok' 'checksums without standard input'
	full fit --output "$scratch/run"
fi
echo "1..$number"
