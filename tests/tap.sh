# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by the shell tests: numbered results, and commands judged by exit status and output. expect and readable need $scratch.
# shellcheck disable=SC2034 # used by the tests
bin=${FATHOM_BIN:-build/bin}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
recorded=$root/data/nvidia-h200       # the recorded machine that answers for GPUs
other_recorded=$root/data/nvidia-h100 # another one, of the same architecture
number=0

report() { # report "ok" or "not ok", what
	number=$((number + 1))
	echo "$1 $number - $2"
}

result() { # status of a command, what
	if [ "$1" -eq 0 ]; then report ok "$2"; else report "not ok" "$2"; fi
}

# skip_all REASON: instead of any result
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# needs PROGRAM...: skips the test where one of them is not built
needs() {
	for program; do
		[ -x "$bin/$program" ] || skip_all "$program is not built"
	done
}

# make_scratch: $scratch becomes a folder that the test's end removes
make_scratch() {
	scratch=$(mktemp -d) || exit 1
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
}

# readable FILE: whether a program's text is there, has lines of at most 100 columns, and a unit with every number of its tables
readable() {
	[ -s "$1" ] || return 1
	{
		awk 'length > 100 { print length " columns: " $0 }' "$1"
		awk -f "$root/tests/programs/units.awk" "$1" | sed 's/^/no unit: /'
	} >"$scratch/unreadable"
	sed 's/^/# /' "$scratch/unreadable" >&2
	[ ! -s "$scratch/unreadable" ]
}

# unwrapped: standard input, with lines that were continued (lib/base/wrap.h) also as one
unwrapped() {
	sed -e ':a' -e 'N' -e '$!ba' -e 'p' -e 's/\n    \([^ ]\)/ \1/g'
}

# expect STATUS PATTERN WHAT COMMAND...: exit status, and a line of its output
expect() {
	want=$1 pattern=$2 what=$3
	shift 3
	# shellcheck disable=SC2154 # set by the tests
	"$@" >"$scratch/said" 2>&1 </dev/null
	status=$?
	if [ "$status" -eq "$want" ] && unwrapped <"$scratch/said" | grep -e "$pattern" >/dev/null; then
		report ok "$what"
	else
		report "not ok" "$what"
		echo "# exit status $status, want $want; want '$pattern' in: $(head -n 4 "$scratch/said")" >&2
	fi
}
