#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs say about a GPU that sizes were not measured on, and that they say nothing about one that they were.

. "$(dirname "$0")/../tap.sh"

needs advise predict
make_scratch
. "$root/tests/fixture.sh"
unset FATHOM_DATA MACHINE
mkdir -p "$scratch/measured" "$scratch/other"
{
	fixture_profile
	printf 'gpu.compute_capability\t9.0\tcount\t9.0\t9.0\t1\tdevice attribute\thardware\tok\n'
} >"$scratch/measured/profile.tsv"
{
	fixture_profile | sed 's/^gpu.sm.count	132	count	[^	]*	[^	]*/gpu.sm.count	28	count	28	28/'
	printf 'gpu.compute_capability\t8.6\tcount\t8.6\t8.6\t1\tdevice attribute\thardware\tok\n'
} >"$scratch/other/profile.tsv"
said='tuned for compute capability 9.0 with 132 multiprocessors; this GPU has 8.6 with 28: sizes follow by rule'
panel='panel --m 3000 --nb 48 --from device'

# silent WHAT COMMAND...: it works and says nothing of tuning
silent() {
	what=$1
	shift
	"$@" >"$scratch/said" 2>&1 </dev/null && ! grep -q tuned "$scratch/said"
	result $? "$what"
}

# shellcheck disable=SC2086 # a list of options
{
	silent "advise on the measured GPU" "$bin/advise" $panel --output "$scratch/measured"
	silent "predict there" "$bin/predict" --quick --output "$scratch/measured"
	silent "and its file" cat "$scratch/measured/predictions.tsv"
	expect 0 "warning: $said" "advise on another" "$bin/advise" $panel --output "$scratch/other"
	expect 0 "warning: $said" "predict there" "$bin/predict" --quick --output "$scratch/other"
	expect 0 "^# tuning: $said" "and its file" cat "$scratch/other/predictions.tsv"
	expect 0 'this GPU has 9.0 with 16:' "what if there were fewer multiprocessors" "$bin/advise" $panel \
		--output "$scratch/measured" --set gpu.sm.count=16
}
echo "1..$number"
