#!/bin/sh
# SPDX-License-Identifier: MIT
# make intervals: calibrates the factors of intervals. Predicts the drawn shapes of every recorded machine again by this build, compares
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
machines=${INTERVAL_MACHINES:-$(cd data && echo *)}

# The seed of a machine's measurements: predictions.tsv names the last one, the others stand in names.
seed_of() {
	case $1 in
	*/measurements.tsv) sed -n -e '/^#/!q' -e 's/^# seed: //p' "${1%/*}/predictions.tsv" ;;
	*) basename "${1##*-}" .tsv ;;
	esac
}
for machine in $machines; do
	case $machine in
	local | *-sms-*) continue ;;
	esac
	# Recorded runs with --quick predicted fewer shapes: shapes without a measurement count for nothing.
	quick=
	! grep -qs '^# command: .*predict.* --quick' "data/$machine/predictions.tsv" || quick=--quick
	for file in "data/$machine"/measurements*.tsv; do
		[ -e "$file" ] || continue
		seed=$(seed_of "$file")
		[ -n "$seed" ] || continue # no drawn shapes
		echo "intervals: $machine, seed $seed"
		folder=$scratch/$seed/$machine
		mkdir -p "$folder" && cp "data/$machine/profile.tsv" "data/$machine/machine.tsv" "$folder" &&
			cp "$file" "$folder/measurements.tsv" || exit 1
		attend "$bin/predict" ${quick:+"$quick"} --seed "$seed" --output "$folder" >/dev/null || exit 1
		set -- "$@" "$folder"
	done
done
shift 2
attend "$bin/validate" --intervals "$table.new" "$@" && mv "$table.new" "$table"
