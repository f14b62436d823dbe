#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures all that a recorded machine has, step by step: the profile, its validation by three seeds, the benchmarks and the papers'
# tables, several GPUs where there are any, the report. `make measure-all` runs it:
#   scripts/measure_all.sh OUTPUT      MINUTES=N: ends after N minutes, within a step, too
# OUTPUT/measure-all.done names the steps that are done. The same command goes on with the next one, also on another machine of the same
# kind; another version, kind of machine or driver begins anew.
set -u
LC_ALL=C
export LC_ALL

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
output=$1
start=$(date +%s)
limit=
failed=
case ${MINUTES-} in
'') ;;
*[!0-9]* | ??????*) echo "measure-all: MINUTES is a whole number, not '$MINUTES'" >&2 && exit 2 ;;
*) limit=$(echo "$MINUTES" | awk '{ print 60 * $1 }') ;; # 08 is octal to the shell
esac

# shellcheck source=scripts/attend.sh
. "$root/scripts/attend.sh"

fact() {
	awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$output/machine.tsv"
}

# step NAME COMMAND...: unless it is done. A step that fails is tried again by the next call.
step() {
	name=$1 left=1
	shift
	! grep -qxF "$name" "$done_file" || return 0
	[ -z "$limit" ] || left=$((limit - $(date +%s) + start))
	[ $left -gt 0 ] || over
	echo "measure-all: $name"
	attend ${limit:+timeout -s INT "$left"} "$@"
	status=$?
	case $status in
	0) echo "$name" >>"$done_file" || exit 1 ;;
	124) over ;;
	129 | 130 | 143) exit "$status" ;;
	*) failed="$failed $name," ;;
	esac
}
over() {
	echo "measure-all: $MINUTES minutes are over, $(($(wc -l <"$done_file") - 1)) of $(echo "$steps" | wc -w) steps are done:" \
		"the same command goes on" >&2
	exit 1
}

mkdir -p "$output" && attend "$root/fathom" machine --output "$output" >/dev/null || exit 1
steps="probe validate-1 validate-2 validate-3 benchmarks"
case $(fact gpu.visible) in
'' | 0 | 1) ;;
*) steps="$steps several" ;;
esac
steps="$steps report"
done_file=$output/measure-all.done
run="$("$root/fathom" machine --version), $(fact host.cpu), $(fact gpu.name), driver $(fact gpu.driver)"
if [ "$(head -n 1 "$done_file" 2>/dev/null)" != "$run" ]; then
	echo "$run" >"$done_file" || exit 1
fi
echo "measure-all: $(echo "$steps" | wc -w) steps, $(($(wc -l <"$done_file") - 1)) done before;" \
	"the probe takes minutes, a validation at most 10, the benchmarks at most 84, several GPUs at most 20"

for name in $steps; do
	case $name in
	probe) step probe "$root/fathom" probe --output "$output" ;;
	validate-*) step "$name" "$root/fathom" validate --output "$output" ;;
	benchmarks) step "$name" sh "$root/scripts/bench.sh" "${FATHOM_BIN:-$root/build/bin}" "$output" ;;
	several) step "$name" "$root/fathom" measure --several --output "$output" ;;
	report) step "$name" "$root/fathom" report --output "$output" ;;
	esac
done
echo "measure-all: $(($(date +%s) - start)) s"
if [ -n "$failed" ]; then
	echo "measure-all: failed: ${failed# } for the reasons above; the same command tries again" >&2
	exit 1
fi
