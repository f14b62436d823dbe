#!/bin/sh
# SPDX-License-Identifier: MIT
# Predicts, measures at shapes drawn by a seed and at fixed ones, and compares, in at most ten minutes; `fathom validate` runs it:
#   scripts/validate.sh BIN OUTPUT DEVICE SEED given|drawn quick|full --json|""
# An interrupted run leaves OUTPUT/validate.unfinished. The next one of its extent without a given seed goes on with its predictions.
# Measurements of an earlier seed stay as OUTPUT/measurements-SEED.tsv while the profile does: `make intervals` calibrates on all of them.
# A large error is no failure. quick: fewer shapes, no changes of a QR factorization, no timeline.
set -u
LC_ALL=C
export LC_ALL

bin=$1 output=$2 device=$3 seed=$4 asked=$5 extent=$6 json=$7
start=$(date +%s)
exec 3>&1 # for the judgement as JSON; what else is said then goes to stderr
[ -z "$json" ] || exec >&2

# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"
unfinished=$output/validate.unfinished

finish() {
	rm -f "$unfinished"
	echo "validate: $(($(date +%s) - start)) s"
	exit
}

quick=
[ "$extent" = full ] || quick=--quick
state() { # of what the predictions are made from, and they themselves
	echo "$extent $("$bin/machine" --version 2>&1)"
	cksum "$output/profile.tsv" "$output/predictions.tsv" 2>&1 || true
}
said() { # KEY FILE: the key's value in the file's first lines
	sed -n -e '/^#/!q' -e "s/^# $1: //p" "$2" 2>/dev/null
}
sum_of() {
	sha256sum "$1" 2>/dev/null | cut -d ' ' -f 1
}
keep_earlier() {
	rm -f "$output/measurements-$seed.tsv"
	earlier=$(said seed "$output/predictions.tsv")
	if [ "$(said profile_sha256 "$output/predictions.tsv")" != "$(sum_of "$output/profile.tsv")" ]; then
		rm -f "$output"/measurements-*.tsv
	elif [ "${earlier:-$seed}" != "$seed" ] && [ "$(said predictions_sha256 "$output/measurements.tsv")" = "$(sum_of "$output/predictions.tsv")" ]; then
		mv "$output/measurements.tsv" "$output/measurements-$earlier.tsv"
	fi
}
if [ "$asked" = drawn ] && [ -s "$unfinished" ] && [ "$(state)" = "$(cat "$unfinished")" ]; then
	echo "validate: goes on with an interrupted run (--seed N begins anew)"
else
	keep_earlier
	attend "$bin/predict" ${quick:+"$quick"} --seed "$seed" --output "$output" || exit
	state >"$unfinished" || exit 1
fi

# validate also reports refused and wrong runs. Only an interruption, or no measurement at all, ends this script.
attend "$bin/measure" --device "$device" --output "$output" --budget 360
status=$?
case $status in
0) ;;
1) [ -f "$output/measurements.tsv" ] || exit 1
	echo "validate: some runs failed; they have no time below" >&2 ;;
*) exit "$status" ;;
esac

attend "$bin/validate" --recorded --device "$device" --output "$output" ${json:+"$json"} >&3 || exit
[ -z "$quick" ] || finish

# Changes of a QR factorization: update or factorize again, as the model advises and as measured.
if grep -q '	cuda	' "$output/measurements.tsv"; then
	attend "$bin/predict" --update --output "$output" && attend "$bin/measure" --update --device "$device" --output "$output" --budget 75 &&
		attend "$bin/validate" --recorded --update --output "$output" ||
		echo "validate: the changes of a QR factorization are not all measured" >&2
fi

# One LU step by step, simulated and measured.
if grep -q '	cuda	' "$output/measurements.tsv"; then
	timelines=$output/trace_sgetrf_8192
	attend "$bin/trace" getrf --n 8192 --device "$device" --output "$output" --tsv "$timelines.tsv" --svg "$timelines.svg" >/dev/null ||
		echo "validate: the timeline of an LU is not recorded" >&2
fi
finish
