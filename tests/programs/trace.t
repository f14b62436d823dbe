#!/bin/sh
# SPDX-License-Identifier: MIT
# trace on the recorded machine: table, plan, drawing, a recorded run beside the simulation, and what it refuses.
# Nothing is measured here: tests/validation/test_recorder.c does that.

. "$(dirname "$0")/../tap.sh"

# traces STATUS PATTERN WHAT ARGUMENT...: expect, of trace
traces() {
	status=$1 line=$2 what=$3
	shift 3
	expect "$status" "$line" "$what" "$bin/trace" "$@"
}

needs trace
make_scratch
lu="getrf --n 2000 --simulate --output $recorded"

# measured FACTOR: a record with its own simulation, slowed down, as what was measured
measured() {
	awk -F '\t' -v OFS='\t' -v f="$1" '
	/^#/ { print; next }
	!n++ { print "# gpu: Made Up"; print "# date: 2026-01-01T00:00:00Z"; print; next }
	{ print; $1 = "measured"; $10 *= f; $11 *= f; $12 *= f; line[n] = $0 }
	END { for (i = 2; i <= n; i++) print line[i] }'
}

# Profiles that have not resolved the size of L2, and without the products of 3xFP16.
mkdir "$scratch/unresolved" "$scratch/without"
awk -F '\t' -v OFS='\t' '$1 ~ /^gpu[.]l2[.](near[.])?size$/ { $2 = "nan"; $NF = "bounded" } { print }' \
	"$recorded/profile.tsv" >"$scratch/unresolved/profile.tsv"
grep -v '^gpu[.]half_' "$recorded/profile.tsv" >"$scratch/without/profile.tsv"

# shellcheck disable=SC2086 # lists of options
{
	traces 0 '^plan: panels on the' "the plan that the model finds" $lu
	traces 0 '^plan: panels on the host, .* blocks of 96$' "a plan that is given" $lu --panels host --nb 96
	traces 0 'look-ahead 2, leaves of 64, .* blocks of 2 x 256 1 x 128$' "a whole plan that is given" $lu \
		--plan "leaf=64 inverse=0 lookahead=2 panel=persistent widths=256x2,128"
	traces 0 'leaves of 64, .* blocks of 96$' "one without widths" $lu --nb 96 --plan " leaf=64  lookahead=1 panel=fused "
	traces 0 '^simulated sgetrf 2000 x 2000: ' "the whole time" $lu
	traces 0 ' gemm ' "the operations" $lu --nb 100
	traces 0 '^update ' "the share of each phase" $lu
	traces 0 'steps, limited by' "the steps" $lu
	traces 0 ' panel_reflectors ' "QR" geqrf --n 300 --m 500 --panels device --output "$recorded"
	traces 0 ' potrf_block ' "Cholesky" potrf --n 300 --precision d --panels device --output "$recorded"
	traces 0 ' half_update ' "LU by 3xFP16, of a profile that has not resolved the size of L2" getrf --n 9000 --nb 256 \
		--math 3xfp16 --simulate --lines 4000 --output "$scratch/unresolved"
	traces 0 'blocks of [0-9]* x [0-9]* [0-9]* x [0-9]*$' "blocks of several widths for Cholesky" potrf --n 5555 \
		--simulate --output "$recorded"
	traces 0 'look-ahead 0, ' "no look-ahead where panels take most of the time" potrf --n 512 \
		--simulate --output "$other_recorded"
	traces 0 'look-ahead 1, ' "look-ahead where updates do" potrf --n 4096 \
		--simulate --output "$other_recorded"
	traces 0 'look-ahead 0, ' "two blocks hide little: no look-ahead" geqrf --m 100000 --n 200 --nb 128 \
		--simulate --output "$recorded"
	traces 0 'look-ahead 0, ' "the same on another machine" geqrf --m 100000 --n 200 \
		--simulate --output "$other_recorded"
	traces 1 'no 3xFP16 here' "3xFP16 that a profile has not" potrf --n 4096 --math 3xfp16 --simulate \
		--output "$scratch/without"
	traces 0 '"engine": "copy to host"' "--json" $lu --panels host --json
	traces 0 '^plan' "a drawing is written" $lu --nb 100 --svg "$scratch/lu.svg"
	expect 0 '^</svg>$' "to its end" cat "$scratch/lu.svg"
	traces 1 'cannot write' "a drawing that cannot be written" $lu --nb 100 --svg "$scratch/none/lu.svg"
	traces 0 '^simulated' "both are kept in a file" $lu --nb 100 --tsv "$scratch/trace_sgetrf_2000.tsv"
	expect 0 '^simulated	main	main	update	gemm	' "a row an entry" cat "$scratch/trace_sgetrf_2000.tsv"
	expect 0 '^# plan: .*lookahead=' "and the plan" cat "$scratch/trace_sgetrf_2000.tsv"
	traces 1 'cannot' "a file that cannot be written" $lu --nb 100 --tsv /dev/null/none.tsv
	traces 1 'profile.tsv' "a folder without a profile" getrf --n 100 --output "$scratch"
	traces 2 'what to trace' "no operation" --n 100
	traces 2 "operation 'magic'" "an unknown operation" magic --n 100
	traces 2 'size of the matrix' "no size" getrf
	traces 2 'square' "a matrix for Cholesky that is not square" potrf --n 100 --m 200
	traces 2 'place of panels' "an unknown place" $lu --panels moon
	traces 2 'fused, persistent' "an unknown variant of panels" $lu --panel moon
	traces 2 'up to 131072' "a matrix that no memory holds" getrf --n 1g
	traces 2 "plan 'leaf=64 magic=1'" "an unknown word of a plan" $lu --plan "leaf=64 magic=1"
	traces 2 'widths start at 1' "widths that are none" $lu --plan "leaf=64 panel=fused widths=wide"
	traces 2 'which panels' "an LU's plan without panels" $lu --plan "leaf=64 widths=64"
	traces 2 'inverses of 219' "inverses that are too wide" $lu --inverse 219
	traces 2 "QR's have at most 128" "a leaf that no kernel takes" geqrf -n 300 --plan "leaf=200 widths=256"
	traces 2 'uplo is for potrf: leave it out of trace getrf' "a triangle of LU" $lu --uplo upper
	for operation in potrf geqrf; do
		traces 2 "panel is for getrf: leave it out of trace $operation" "LU's panels of $operation" $operation --n 512 --panel fused --output "$recorded"
	done
	traces 2 'draws nothing' "a drawing that ends before it begins" $lu --svg "$scratch/none.svg" --from 100 --to 50
	traces 2 'the timeline ends at [0-9.]* us' "one that begins behind the end" $lu --nb 100 --svg "$scratch/none.svg" --from 1e9
	traces 2 'give --svg' "a part of no drawing" $lu --from 100
	[ ! -e "$scratch/none.svg" ]
	result $? 'which writes nothing'
	traces 2 'leave --nb out' "a plan's widths and others" $lu --nb 96 --plan "leaf=64 panel=fused widths=64"
	traces 2 'sms is for measuring' "a part of a GPU, simulated" $lu --sms 16
	traces 2 'leave --leaf' "a plan and its parts" $lu --plan "leaf=64 panel=fused" --leaf 32
}

# ---- QR's panels by the Gram matrix in double precision, timed and not
whole=$root/data/nvidia-h200
mkdir "$scratch/untimed"
grep -v '^gpu[.]panel_geqrf_gram[.]d' "$whole/profile.tsv" >"$scratch/untimed/profile.tsv"
tall() { # FOLDER: microseconds
	"$bin/trace" geqrf --m 131072 --n 64 --precision d --simulate --lines 1 --output "$1" 2>/dev/null | awk '/^simulated/ { print $(NF - 1) }'
}
echo "$(tall "$scratch/untimed") $(tall "$whole")" | awk '{ exit !($1 > 0.6 * $2 && $1 < 1.1 * $2) }'
result $? 'without a timing their time comes from the hardware law, not from the other forms, which take seven times as long'

# ---- a recorded run, where there is no GPU
export CUDA_VISIBLE_DEVICES=
# The run below is a simulation without the recorder's marks: here they cost nothing.
grep -v '^gpu[.]event[.]mark	' "$recorded/profile.tsv" >"$scratch/profile.tsv"
lu="getrf --n 2000 --output $scratch"
# shellcheck disable=SC2086 # lists of options
{
	traces 0 'simulated only: no GPU.*no run is recorded' "a record without a run" $lu
	measured 1.25 <"$scratch/trace_sgetrf_2000.tsv" >"$scratch/new"
	mv "$scratch/new" "$scratch/trace_sgetrf_2000.tsv"
	traces 0 '^measured sgetrf 2000 x 2000 on Made Up, 2026-01-01T00:00:00Z: ' "a record with a run" $lu
	traces 0 'same limiter in 20 of 20 steps (100.0 %)' "step by step" $lu
	traces 0 '^largest difference of exposed shares: 0.0 points' "phase by phase" $lu
	traces 0 '^whole time: simulated .* (-20.0 %)' "and whole" $lu
	traces 0 ' blocks of 100$' "its plan is simulated" $lu
	traces 0 '"timeline": "measured"' "both in --json" $lu --json
	traces 0 'the plan recorded in .* is another one' "another plan than was run" $lu --nb 128
	traces 0 '^[0-9.]* us until the host sees the end, [0-9.]* Tflop/s$' "marks that cost nothing are not named" $lu
	traces 0 '^plan' "both in one drawing" $lu --svg "$scratch/both.svg"
	expect 0 '>measured sgetrf' "the measured below the simulated" cat "$scratch/both.svg"
	traces 0 'simulated only: .*no run of it is recorded' "another precision" $lu --precision d
	sed 's/^measured	main/measured	moon/' "$scratch/trace_sgetrf_2000.tsv" >"$scratch/new"
	mv "$scratch/new" "$scratch/trace_sgetrf_2000.tsv"
	traces 0 ':[0-9]*: no step of a timeline' "a record that is none" $lu
}

# ---- the recorded machine's run: with what the recorder's marks cost
"$bin/trace" getrf --n 8192 --output "$recorded" --lines 0 2>/dev/null | tr -s '\n ' ' ' >"$scratch/text"
sed -n "s/^.*simulated [^:]*: \([0-9.]*\) us .* \([0-9.]*\) us until the host .* cost another \([0-9.]*\) us .*/\1 \2 \3/p" "$scratch/text" |
	awk '{ off = $1 - $2 - $3; bad = off > 20 || off < -20 } END { exit bad || NR != 1 }'
result $? 'the timeline lasts as long as the prediction and the marks together'
echo "1..$number"
