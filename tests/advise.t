#!/bin/sh
# SPDX-License-Identifier: MIT
# advise on a made-up machine: the answer's shape, what-if, and what it refuses.

bin=${FATHOM_BIN:-build/bin}
number=0

report() { # report "ok" or "not ok", what
	number=$((number + 1))
	echo "$1 $number - $2"
}

# expect STATUS PATTERN WHAT ARGUMENT...: exit status of advise, and a line of what it said
expect() {
	want=$1 pattern=$2 what=$3
	shift 3
	"$bin/advise" "$@" >"$scratch/out" 2>&1 </dev/null
	status=$?
	if [ "$status" -eq "$want" ] && grep -q -e "$pattern" "$scratch/out"; then
		report ok "$what"
	else
		report "not ok" "$what"
		echo "# exit status $status, want $want; want '$pattern' in: $(head -n 4 "$scratch/out")" >&2
	fi
}

if [ ! -x "$bin/advise" ]; then
	echo "1..0 # SKIP advise is not built"
	exit 0
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$(dirname "$0")/fixture.sh"
mkdir -p "$scratch/gpu" "$scratch/host" "$scratch/empty" "$scratch/home/data/made-up"
fixture_profile >"$scratch/gpu/profile.tsv"
fixture_profile host >"$scratch/host/profile.tsv"
grep -v -e '^gpu' -e '^host' -e '^link' "$scratch/gpu/profile.tsv" >"$scratch/empty/profile.tsv"
cp "$scratch/gpu/profile.tsv" "$scratch/home/data/made-up"
gpu="panel --output $scratch/gpu --m 8192 --nb 64"
host="panel --output $scratch/host --m 3000 --nb 48"

# shellcheck disable=SC2086 # lists of options
{
	expect 0 '^\* persistent' "the fastest variant comes first and is marked" $gpu
	expect 0 '^Choice: persistent on cuda, limited by barrier' "the choice and its limiter" $gpu
	expect 0 '^Recorded, not measured on this machine' "another machine's profile is called that" $gpu
	expect 0 '^Most sensitive to: ' "what the choice rests on" $gpu
	expect 0 '^The choice tips to ' "and what tips it" $gpu
	expect 0 '^Choice: fused' "what if exchanges were slow" $gpu --set gpu.panel.column.s=50us
	expect 0 'refused: the panel does not fit' "a refused variant has its reason" \
		panel --output "$scratch/gpu" --m 500k --nb 96
	expect 0 'double precision' "double precision" $gpu --precision d
	expect 0 'host memory' "the panel comes from the host" $gpu --from host
	expect 0 '"seconds": [0-9]' "--json" $gpu --json
	expect 0 '^\* host       host' "a machine without a GPU: its CPU" $host
	expect 1 'has no GPU' "and no panel on its device" $host --from device
	expect 1 'no variant can be predicted here' "a profile without parameters" \
		panel --output "$scratch/empty" --m 100 --nb 10
	expect 1 'profile.tsv' "a folder without a profile" panel --output "$scratch/nothing" --m 100 --nb 10
	expect 2 'rows and\|rows as columns' "more columns than rows" panel --output "$scratch/gpu" --m 10 --nb 20
	expect 2 'm' "no rows" panel --m 0 --nb 20
	expect 2 "panel's size" "no size at all" panel
	expect 2 'whole number' "a size that is no number" panel --m many --nb 20
	expect 2 'advice is about' "no question" --m 100 --nb 10
	expect 2 'advice is about' "an unknown question" gemm --m 100 --nb 10
	expect 2 'single' "an unknown precision" $gpu --precision half
	expect 2 'host or device' "an unknown place" $gpu --from moon
	expect 2 'NAME=VALUE' "a malformed --set" $gpu --set gpu.launch.enqueue
	expect 2 'one' "--machine and --output" $gpu --machine made-up
}
FATHOM_HOME=$scratch/home
export FATHOM_HOME
expect 0 'data/made-up' "a recorded machine by name" panel --machine made-up --m 8192 --nb 64
expect 1 'data/nowhere' "an unknown machine" panel --machine nowhere --m 8192 --nb 64
echo "1..$number"
