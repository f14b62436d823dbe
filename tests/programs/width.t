#!/bin/sh
# SPDX-License-Identifier: MIT
# The text of every program has lines of at most 100 columns, on wide and narrow terminals the same, and a unit with every number of its
# tables (json.t: of those with --json).
. "$(dirname "$0")/../tap.sh"
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA COLUMNS
needs advise compare fit list machine measure predict rules trace validate host_parallel
make_scratch
. "$root/tests/fixture.sh"
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
cd "$root" || exit 1
data=$scratch/data
mkdir "$data"
fixture_profile host >"$data/profile.tsv"

narrow() { # PROGRAM WORD...
	called=$bin/$1
	[ "$1" != ./fathom ] || called=$1
	shift
	COLUMNS=40 FATHOM_BIN=$bin "$called" "$@" >"$scratch/out" 2>/dev/null </dev/null
	readable "$scratch/out"
	result $? "${called##*/} $*"
}
same() { # PROGRAM WORD...: narrow, and the same on a wide terminal
	narrow "$@"
	COLUMNS=300 "$called" "$2" >"$scratch/wide" 2>/dev/null </dev/null
	COLUMNS=30 "$called" "$2" >"$scratch/thin" 2>/dev/null </dev/null
	cmp -s "$scratch/wide" "$scratch/thin"
	result $? "$*: whatever the terminal"
}
same list probes
same list machines
narrow ./fathom help
narrow list
narrow compare nvidia-h200-sms-64 nvidia-h200 --verbose
narrow machine --output "$data"
narrow machine --output "$data" --verbose
narrow host_parallel --quick --verbose --output "$data"
narrow fit --output "$data"
for question in 'panel --m 8192 --nb 64 --verbose' 'panel --m 8192 --nb 64 --scale gpu.launch.*=0.5' 'geqrf --m 5000 --n 3000' 'potrf --m 3000 --n 3000' \
	'gemv --m 8192 --n 64' 'gramschmidt --m 4096 --n 512' 'kernel --blocks 132 --threads 256 --l2 1MB'; do
	# shellcheck disable=SC2086 # words
	narrow advise $question --machine nvidia-h200
done
narrow trace getrf --n 2048 --simulate --verbose --machine nvidia-h200
narrow rules --verbose --machine nvidia-h200
fixture_profile host >"$data/profile.tsv" # fit made another one
narrow rules --output "$data"
narrow predict --quick --output "$data"
narrow predict --update --quick --output "$data"
awk '/^#/ || /^operation/ || (/^panel_getrf.*\t750\t/ && n++ < 4)' "$data/predictions.tsv" >"$scratch/few"
mv "$scratch/few" "$data/predictions.tsv"
narrow measure --quick --output "$data"
narrow validate --recorded --verbose --output "$data"
narrow measure --bench --quick --only potrf --smallest 256 --largest 256 --output "$data"
narrow measure --bench --quick --only breakdown --largest 256 --output "$data"
narrow measure --kerr --quick --largest 512 --budget 2 --output "$data"

# ---- the check can fail
printf 'Loads\n\nlevel  value\nL1       3.5\nL2      12.5\n' >"$scratch/bare"
[ "$(awk -f "$root/tests/programs/units.awk" "$scratch/bare" | wc -l)" -eq 2 ]
result $? 'numbers without a unit are found'
[ -z "$(sed 's/value/   ns/' "$scratch/bare" | awk -f "$root/tests/programs/units.awk")" ]
result $? 'a head has the unit of its column'
echo "1..$number"
