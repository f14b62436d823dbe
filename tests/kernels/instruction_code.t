#!/bin/sh
# SPDX-License-Identifier: MIT
# The machine code of the instruction probe is what its table says: every timed loop consists of the expected
# opcode, as often as the body is long, and of little else (padding is not counted; products move operands into register pairs). Needs cuobjdump; skips, and says so, without.
. "$(dirname "$0")/../tap.sh"
make_scratch

# shellcheck source=tests/sass.sh
. "$(dirname "$0")/../sass.sh"
sass_of "$bin/instruction" "$scratch/sass"

# An operand that comes from the constant bank, or from a uniform register where the compiler put it, is told by the name.
sed 's/ FFMA \([^;]*, \)\(UR[0-9]\|c\[\)/ FFMA.UNIFORM \1\2/' "$scratch/sass" >"$scratch/marked"

# what kernel opcode body most-others [an opcode that the loop holds]
check_loop() {
	loops "$scratch/marked" "$2" "$3" "${6-}" >"$scratch/loops"
	if [ ! -s "$scratch/loops" ]; then
		report "not ok" "$1: its loop is in the program"
		return
	fi
	if awk -F '\t' -v body="$4" -v most="$5" '$2 > 0 && ($2 != body || $3 - $2 > most) { bad = 1 } $2 == body { good = 1 }
		END { exit bad || !good }' "$scratch/loops"; then
		report ok "$1: $4 $3 a turn and at most $5 other instructions"
	else
		report "not ok" "$1: $4 $3 a turn and at most $5 other instructions"
		sed 's/^/# target, found, all: /' "$scratch/loops" >&2
	fi
}

# what kernel chains body opcode most-others
check() {
	check_loop "$1, $3 chains" "chain_kernelINS_.*$2ELi$3ELi$4E" "$5" "$4" "$6"
}

# from target PATTERN on the program was built for
built_for() {
	grep -q "arch = sm_$1" "$scratch/sass"
}

for chains in 1 8; do
	check 'single-precision FMA' fma_s $chains 512 FFMA 8
	check 'double-precision FMA' fma_d $chains 512 DFMA 8
	check 'half-precision FMA' fma_h $chains 512 HFMA2 8
	check 'bfloat16 FMA' fma_bf16 $chains 512 HFMA2 8
	check 'integer multiply-add' mad_i $chains 512 IMAD 8
	check 'funnel shift' shift_i $chains 512 SHF 8
	check 'three-input logic' logic_i $chains 512 LOP3 8
	check 'reciprocal square root' special_rsqrt $chains 512 MUFU.RSQ 8
	check 'power of two' special_exp2 $chains 512 MUFU.EX2 8
	check 'sine, a multiplication before it' special_sine $chains 512 MUFU.SIN 520
	check 'logarithm' special_lg2 $chains 512 MUFU.LG2 8
	check 'shuffle' shuffle $chains 512 SHFL 8
	check 'ballot, a comparison before it' ballot $chains 512 VOTE 520
	check 'sum over a warp, a move after it' redux $chains 512 REDUX 520
	check 'tf32 product' mma_tf32 $chains 16 HMMA 24
	check 'bfloat16 product' mma_bf16 $chains 16 HMMA 24
	check 'half-precision product' mma_h $chains 16 HMMA 24
	check 'double-precision product' mma_d $chains 16 DMMA 24
	if built_for '\(9\|1[0-9]\)'; then
		check 'large double-precision product' mma_d16 $chains 16 DMMA.16x8x16 48
	fi
done

# by enum fed_source: 128 FMA a turn, whose operand was loaded in pieces of so many words, or was not
check_loop 'FMA out of registers' 'fed_kernelILi0ELi1E' 'FFMA R' 128 8
for source in 1 2 3; do
	for words in 1 2 4; do
		fed="fed_kernelILi${source}ELi${words}E"
		check_loop "FMA fed from shared memory, source $source" "$fed" 'FFMA R' 128 $((128 / words + 8))
		check_loop "its loads of $((4 * words)) bytes" "$fed" LDS $((128 / words)) 136 FFMA
	done
done
check_loop 'FMA with a constant' 'fed_kernelILi4ELi1E' FFMA.UNIFORM 128 8

if built_for 90a; then
	for kind in 0 1; do
		check_loop "warpgroup's product, kind $kind" "wgmma_kernelILi${kind}E" GMMA 16 8 GMMA
	done
fi
echo "1..$number"
