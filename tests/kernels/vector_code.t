#!/bin/sh
# SPDX-License-Identifier: MIT
# The inner loops of LAWN 202's vector-thread products consist of the instructions that their estimate counts
# (factor/model/vector_gemm.c), on sm_90: multiply-adds, loads from shared memory, fetches exactly, all of them within 5 %,
# which is what versions of the compiler may differ by. Needs cuobjdump; skips, and says so, without.
. "$(dirname "$0")/../tap.sh"
make_scratch
# shellcheck source=tests/sass.sh
. "$(dirname "$0")/../sass.sh"
object=$bin/../factor/papers/gemm_volkov.cu.o # the programs hold much else
sass_of "$object" "$scratch/sass"

# counts what kernel all "opcode=count ..."
counts() {
	bad=
	for pair in $4; do
		loops "$scratch/sass" "$2" "${pair%=*}" STS | grep -i '^sm_90' >"$scratch/loops"
		awk -F '\t' -v want="${pair#*=}" -v all="$3" '$2 != want || $3 > 1.05 * all || $3 < 0.95 * all { bad = 1 }
			END { exit bad }' "$scratch/loops" || bad="$bad ${pair%=*}: $(cut -f 2,3 "$scratch/loops" | tr '\t\n' '  ')"
	done
	if [ ! -s "$scratch/loops" ]; then
		report ok "$1 # SKIP $object has no code for sm_90"
	elif [ -z "$bad" ]; then
		report ok "$1: $3 instructions, $4"
	else
		report "not ok" "$1: $3 instructions, $4"
		echo "# found of all:$bad" >&2
	fi
}

counts 'A B' '[0-9]ab_kernelILi0ELb1E' 414 'FFMA=256 LDS.128=68 STS=4 LDG=20'
counts 'A B without fetches' '[0-9]ab_kernelILi1ELb1E' 353 'FFMA=256 LDS.128=68 STS=4 LDG=0'
counts 'A B without prefetches' '[0-9]ab_kernelILi2ELb1E' 415 'FFMA=256 LDS.128=68 STS=4 LDG=20'
counts 'A B^T' 'abt_kernelILi0ELb1E' 106 'FFMA=64 LDS.128=16 STS=1 LDG=5'
counts 'A B^T without fetches' 'abt_kernelILi1ELb1E' 96 'FFMA=64 LDS.128=16 STS=1 LDG=0'
counts 'A B^T without prefetches' 'abt_kernelILi2ELb1E' 103 'FFMA=64 LDS.128=16 STS=1 LDG=5'
echo "1..$number"
