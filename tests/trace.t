#!/bin/sh
# SPDX-License-Identifier: MIT
# trace on the recorded machine: table, plan, drawing, and what it refuses.

. "$(dirname "$0")/tap.sh"

# traces STATUS PATTERN WHAT ARGUMENT...: expect, of trace
traces() {
	status=$1 line=$2 what=$3
	shift 3
	expect "$status" "$line" "$what" "$bin/trace" "$@"
}

if [ ! -x "$bin/trace" ]; then
	echo "1..0 # SKIP trace is not built"
	exit 0
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
root=$(cd "$(dirname "$0")/.." && pwd)
lu="getrf --n 2000 --output $root/data/nvidia-h200"

# shellcheck disable=SC2086 # lists of options
{
	traces 0 '^plan: panels on the' "the plan that the model finds" $lu
	traces 0 '^plan: panels on the host, .* blocks of 96$' "a plan that is given" $lu --panels host --nb 96
	traces 0 '^simulated sgetrf 2000 x 2000: ' "the whole time" $lu
	traces 0 ' gemm ' "the operations" $lu --nb 100
	traces 0 '^update ' "what each phase is owed" $lu
	traces 0 'steps, limited by' "the steps" $lu
	traces 0 ' panel_geqrf ' "QR" geqrf --n 300 --m 500 --panels device --output "$root/data/nvidia-h200"
	traces 0 ' potrf_block ' "Cholesky" potrf --n 300 --precision d --panels device --output "$root/data/nvidia-h200"
	traces 0 '"engine": "copy to host"' "--json" $lu --panels host --json
	traces 0 '^plan' "a drawing is written" $lu --nb 100 --svg "$scratch/lu.svg"
	expect 0 '^</svg>$' "to its end" cat "$scratch/lu.svg"
	traces 1 'cannot write' "a drawing that cannot be written" $lu --nb 100 --svg "$scratch/none/lu.svg"
	traces 1 'unknown panel variant' "an unknown variant" $lu --panel magic --panels device
	traces 1 'profile.tsv' "a folder without a profile" getrf --n 100 --output "$scratch"
	traces 2 'what to trace' "no operation" --n 100
	traces 2 "operation 'magic'" "an unknown operation" magic --n 100
	traces 2 'size of the matrix' "no size" getrf
	traces 2 'square' "a matrix for Cholesky that is not square" potrf --n 100 --m 200
	traces 2 'place of panels' "an unknown place" $lu --panels moon
}
echo "1..$number"
