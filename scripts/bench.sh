#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares our factorizations with cuSOLVER and the host, and measures the papers' tables. Keeps results in OUTPUT, so an
# interrupted run resumes, also on another machine of the same kind.
# Usage: sh scripts/bench.sh BIN OUTPUT      BENCH_OPTIONS (--model-plans) go to measure --bench, --quick to all studies
set -u
LC_ALL=C
export LC_ALL

bin=$1
output=$2
start=$(date +%s)
failed=

# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"

# Seconds at most, option of `measure`, what it measures. --quick takes a quarter.
studies='3600 --bench factorizations
600 --kerr QR by phases
400 --paper changes of a QR by blocks
400 --gram-host Gram-Schmidt on the host'
quick=
case " ${BENCH_OPTIONS-} " in *' --quick '*) quick=--quick ;; esac
most=$(echo "$studies" | awk '{ sum += $1 } END { print sum }')
echo "bench: at most $((most / 60)) min, with --quick at most $((most / 240)); it goes on with files of this version and kind of machine"

while read -r most study what; do
	options=$quick
	[ "$study" != --bench ] || options=${BENCH_OPTIONS-}
	[ -z "$quick" ] || most=$((most / 4))
	# shellcheck disable=SC2086 # several options in one variable
	attend "$bin/measure" --output "$output" "$study" --budget $most $options
	status=$?
	case $status in
	0) ;;
	77) echo "bench: not here: $what" >&2 ;;
	129 | 130 | 143) exit "$status" ;;
	*) failed="$failed $what," ;;
	esac
done <<STUDIES
$studies
STUDIES
echo "bench: $(($(date +%s) - start)) s"
if [ -n "$failed" ]; then
	echo "bench: failed: ${failed# } for the reason above; finished measurements are kept in $output" >&2
	exit 1
fi
