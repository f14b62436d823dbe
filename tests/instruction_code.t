#!/bin/sh
# SPDX-License-Identifier: MIT
# The machine code of the instruction probe is what its table says: every timed loop consists of the expected
# opcode, as often as the body is long, and of little else (padding is not counted; products move operands into register pairs). Needs cuobjdump; skips, and says so, without.
bin=${FATHOM_BIN:-build/bin}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
number=0

for place in "${CUDA_HOME:-/usr/local/cuda}"/bin /usr/local/cuda-*/bin; do
	PATH=$PATH:$place
done
if ! command -v cuobjdump >/dev/null; then
	echo '1..0 # SKIP cuobjdump is not installed: the machine code is not looked at'
	exit 0
fi
if ! cuobjdump -sass "$bin/instruction" >"$scratch/sass" 2>/dev/null; then
	echo "1..0 # SKIP $bin/instruction holds no machine code that cuobjdump reads"
	exit 0
fi

# name chains body: "target TAB opcode count TAB instructions in the loop" for every target; the loop is the largest
# stretch that ends in a branch back.
loops() {
	awk -v kernel="chain_kernelINS_.*$1ELi$2ELi$3E" -v opcode="$4" '
	function hex(text,   i, x) {
		for (i = 1; i <= length(text); i++)
			x = x * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return x
	}
	function done(   i, j, best, from, hits) {
		if (!inside)
			return
		for (i = 1; i <= n; i++)
			if (target[i] != "" && hex(target[i]) <= hex(at[i]) && hex(at[i]) - hex(target[i]) > best) {
				best = hex(at[i]) - hex(target[i])
				from = hex(target[i])
				to = hex(at[i])
			}
		for (j = 1; j <= n; j++)
			if (hex(at[j]) >= from && hex(at[j]) <= to) {
				all += code[j] !~ / NOP /
				hits += index(code[j], opcode) > 0
			}
		if (best)
			print arch "\t" hits + 0 "\t" all
		all = 0
	}
	/arch = sm_/ { arch = $3 }
	/Function :/ { done(); inside = $0 ~ kernel; n = 0; next }
	inside && match($0, /\/\*[0-9a-f][0-9a-f][0-9a-f][0-9a-f]+\*\//) && /;/ {
		n++
		at[n] = substr($0, RSTART + 2, RLENGTH - 4)
		code[n] = $0
		target[n] = ""
		if (/BRA/ && match($0, /0x[0-9a-f]+/))
			target[n] = substr($0, RSTART + 2, RLENGTH - 2)
	}
	END { done() }' "$scratch/sass"
}

# what kernel chains body opcode most-others
check() {
	loops "$2" "$3" "$4" "$5" >"$scratch/loops"
	number=$((number + 1))
	if [ ! -s "$scratch/loops" ]; then
		echo "not ok $number - $1: its loop is in the program"
		return
	fi
	if awk -F '\t' -v body="$4" -v most="$6" '$2 > 0 && ($2 != body || $3 - $2 > most) { bad = 1 } $2 == body { good = 1 }
		END { exit bad || !good }' "$scratch/loops"; then
		echo "ok $number - $1, $3 chains: $4 $5 a turn and at most $6 other instructions"
	else
		echo "not ok $number - $1, $3 chains: $4 $5 a turn and at most $6 other instructions"
		sed 's/^/# target, found, all: /' "$scratch/loops" >&2
	fi
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
	check 'tf32 product' mma_tf32 $chains 16 HMMA 24
	check 'bfloat16 product' mma_bf16 $chains 16 HMMA 24
	check 'half-precision product' mma_h $chains 16 HMMA 24
	check 'double-precision product' mma_d $chains 16 DMMA 24
done
echo "1..$number"
