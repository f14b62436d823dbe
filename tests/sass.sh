# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced, behind tap.sh, by tests that look at machine code.

# sass_of PROGRAM FILE: its machine code into the file; ends the test, and says why, where that is not possible.
sass_of() {
	for place in "${CUDA_HOME:-/usr/local/cuda}"/bin /usr/local/cuda-*/bin; do
		PATH=$PATH:$place
	done
	if ! command -v cuobjdump >/dev/null; then
		skip_all 'cuobjdump is not installed: the machine code is not looked at'
	fi
	if ! cuobjdump -sass "$1" >"$2" 2>/dev/null; then
		skip_all "$1 holds no machine code that cuobjdump reads"
	fi
}

# loops FILE KERNEL OPCODE [WITH]: "target TAB opcode count TAB instructions in the loop" for every target, of the kernel
# whose name matches. The loop is the largest stretch that ends in a branch back (and holds the opcode WITH); padding is
# not counted, nor what no thread does (@!UPT, between dependent products of sm_80).
loops() {
	awk -v kernel="$2" -v opcode="$3" -v with="${4-}" '
	function hex(text,   i, x) {
		for (i = 1; i <= length(text); i++)
			x = x * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return x
	}
	function holds(from, to,   j) {
		for (j = 1; j <= n; j++)
			if (hex(at[j]) >= from && hex(at[j]) <= to && index(code[j], with))
				return 1
		return with == ""
	}
	function done(   i, j, best, from, to, hits, all) {
		if (!inside)
			return
		for (i = 1; i <= n; i++)
			if (target[i] != "" && hex(target[i]) <= hex(at[i]) && hex(at[i]) - hex(target[i]) > best && \
				holds(hex(target[i]), hex(at[i]))) {
				best = hex(at[i]) - hex(target[i])
				from = hex(target[i])
				to = hex(at[i])
			}
		for (j = 1; j <= n; j++)
			if (hex(at[j]) >= from && hex(at[j]) <= to) {
				all += code[j] !~ / NOP |@!UPT /
				hits += index(code[j], opcode) > 0
			}
		if (best)
			print arch "\t" hits + 0 "\t" all
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
	END { done() }' "$1"
}
