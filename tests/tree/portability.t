#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/portability.md, "Series by build": its rows are the series that probes leave out without code for an architecture.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
make_scratch

# Lines "PROBE SERIES" of the table; those measured with code for 8.0, and with code for 9.0 (not a).
sed -n '/^## Series by build/,/^## Toolkits/p' docs/portability.md | grep '^| `' >"$scratch/rows"
named() {
	awk -F'|' -v column="$1" -v is="$2" '$column ~ is {
		gsub(/[` ]/, "", $2)
		while (match($3, /`[^`]*`/)) {
			print $2, substr($3, RSTART + 1, RLENGTH - 2)
			$3 = substr($3, RSTART + RLENGTH)
		}
	}' "$scratch/rows" | sort -u
}
same() { # what; reads two lists
	cmp -s "$scratch/page" "$scratch/code" && test -s "$scratch/code"
	result $? "$1"
	diff "$scratch/page" "$scratch/code" | sed 's/^/# /' >&2
}

named 4 no | cut -d' ' -f1 | sort -u >"$scratch/page"
grep -rl 'probe_lacks(' probes factor/calibration | xargs -n1 dirname | xargs -n1 basename | sort -u >"$scratch/code"
same 'the probes that leave series out'

# instructions of the table in instruction.cu, by the capability that they need
for need in 80:5:yes 90:5:no; do
	named "$(echo "$need" | cut -d: -f2)" "${need##*:}" | sed -n 's/^instruction //p' | grep -v wgmma >"$scratch/page"
	sed -n "s/^ *\(PLAIN\|MATRIX\)(\"\([^\"]*\)\",.* ${need%%:*}),\$/\2/p" probes/instruction/instruction.cu | sort -u >"$scratch/code"
	same "instructions with code from ${need%%:*} on"
done

# in factor/calibration: kernels named in the lists
named 4 no | sed -n 's/^block_kernel //p' >"$scratch/page"
sed -n '/^static void note_lacking/,/^}/p' factor/calibration/block_kernel/block_kernel.c | grep -o '"[a-z_]*"' | tr -d '"' | sort >"$scratch/code"
same 'kernels of panels and blocks'
named 6 no | cut -d' ' -f2 | sort >"$scratch/page"
{
	sed -n '/gemm_rate_kind_name\[KINDS\]/,/}/p' factor/calibration/gemm_rate/gemm_rate_calls.c | grep -oE '"(tf32_tall|half)[a-z_]*"'
	grep -o '"lasting_half"' factor/calibration/gemm_rate/gemm_rate_lasting.c
	grep -o 'probe_lacks(.*"wgmma[^"]*"' probes/instruction/instruction.c | grep -o '"[^"]*"'
} | tr -d '"' | sort >"$scratch/code"
same 'products by warpgroups'

# every name is one of its probe's
named 4 no | while read -r probe series; do
	grep -rqF "\"$series\"" probes/"$probe" factor/calibration/"$probe" 2>/dev/null || echo "$probe $series"
done >"$scratch/lost"
test ! -s "$scratch/lost"
result $? 'every series is in its probe'
sed 's/^/# /' "$scratch/lost" >&2
echo "1..$number"
