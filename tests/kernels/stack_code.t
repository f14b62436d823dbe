#!/bin/sh
# SPDX-License-Identifier: MIT
# No kernel uses the stack pointer, R1, as data. ptxas 13.0 did so for an address that branches around asynchronous copies
# had lost: the kernel read from anywhere. Where a kernel lowers R1 it has a stack, whose addresses it may form. Needs
# cuobjdump; skips, and says so, without.
. "$(dirname "$0")/../tap.sh"
make_scratch
# shellcheck source=tests/sass.sh
. "$(dirname "$0")/../sass.sh"

# Of machine code: a line "kernel: instruction" for each kernel that is wrong, and the number of kernels.
cat >"$scratch/find_wrong.awk" <<'TEXT'
function judge() {
	if (kernel != "" && !lowers && used != "")
		print kernel ": " used
}
/Function :/ { judge(); kernel = $NF; count++; lowers = 0; set = 0; used = ""; next }
/^ *\/\*[0-9a-f]+\*\// {
	sub(/\/\* 0x.*/, "")
	if ($0 !~ /[^A-Z0-9]R1[^0-9]/)
		next
	if (!set && $0 ~ / R1, /)
		set = 1
	else if ($0 ~ / R1, R1, /)
		lowers = 1
	else
		used = $0
}
END { judge(); print count + 0 }
TEXT

find "$bin/../factor" "$bin/../probes" -name '*.cu.o' >"$scratch/objects"
[ -s "$scratch/objects" ] || skip_all 'no machine code was built'
sass_of "$(head -n 1 "$scratch/objects")" "$scratch/sass"
# shellcheck disable=SC2016 # the inner shell expands them
xargs -P "$(nproc)" -n 1 sh -c 'cuobjdump -sass "$1" 2>/dev/null | awk -f "$0" >"$(mktemp -p "${0%/*}" found.XXXXXX)"' \
	"$scratch/find_wrong.awk" <"$scratch/objects"
kernels=$(cat "$scratch"/found.* | awk 'NF == 1 { all += $1 } END { print all }')
cat "$scratch"/found.* | awk 'NF > 1' >"$scratch/wrong"
[ ! -s "$scratch/wrong" ]
result $? "of $kernels kernels none uses the stack pointer as data"
sed 's/^/# /' "$scratch/wrong" >&2

cat >"$scratch/sass" <<'TEXT'
		Function : wrong
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*21c0*/               @P3 IMAD.X R135, RZ, RZ, R1.reuse, P5 ;
		Function : right
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   VIADD R1, R1, 0xffffffd0 ;
        /*00d0*/                   VIADD R228, R1, UR4 ;
        /*00e0*/                   FADD R10, R11, R12 ;
TEXT
awk -f "$scratch/find_wrong.awk" "$scratch/sass" >"$scratch/found"
grep -q '^wrong: ' "$scratch/found" && [ "$(wc -l <"$scratch/found")" = 2 ]
result $? "such a kernel is found, and one with a stack is not taken for one"
echo "1..$number"
