#!/bin/sh
# SPDX-License-Identifier: MIT
# make intervals: calibrates the factors of intervals. Predicts the recorded shapes of every recorded machine again by this build, compares
# with the recorded measurements, and writes TABLE (factor/model/predictions/interval_table.c). Build again afterwards. A seed that
# is calibrated on judges no intervals. Parts of a GPU (...-sms-N) are left out: short runs of the probes describe them.
# INTERVAL_MACHINES="NAME ..." takes these machines alone.
# Usage: sh scripts/intervals.sh BIN TABLE
set -u
LC_ALL=C
export LC_ALL

bin=$1
table=$2
# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"
scratch=
trap 'rm -rf "$scratch" "$table.new"' EXIT
scratch=$(mktemp -d) || exit 1
[ -n "${INTERVAL_MACHINES-}" ] || INTERVAL_MACHINES=$(for file in data/*/measurements.tsv; do
	case $file in
	data/local/* | data/*-sms-*) ;;
	*) basename "${file%/*}" ;;
	esac
done)

for machine in $INTERVAL_MACHINES; do
	folder=$scratch/$machine
	mkdir "$folder" || exit 1
	cp "data/$machine/profile.tsv" "data/$machine/machine.tsv" "data/$machine/measurements.tsv" "$folder" || exit 1
	seed=$(sed -n -e '/^#/!q' -e 's/^# seed: //p' "data/$machine/predictions.tsv")
	# Recorded runs with --quick predicted fewer shapes: shapes without a measurement count for nothing.
	quick=
	! grep -q '^# command: .*predict.* --quick' "data/$machine/predictions.tsv" || quick=--quick
	echo "intervals: $machine${seed:+, seed $seed} ($(($# - 1)) of $(echo "$INTERVAL_MACHINES" | wc -w))"
	# shellcheck disable=SC2086 # words
	attend "$bin/predict" $quick ${seed:+"--seed=$seed"} --output "$folder" >/dev/null || exit 1
	set -- "$@" "$folder"
done
shift 2
attend "$bin/validate" --intervals "$table.new" "$@" && mv "$table.new" "$table"
