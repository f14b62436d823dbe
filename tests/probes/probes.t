#!/bin/sh
# SPDX-License-Identifier: MIT
# On a GPU every probe measures, quickly, and nothing fails: what they check of their own calls holds, and a profile
# follows from their curves.

. "$(dirname "$0")/../tap.sh"

needs probe machine
make_scratch
"$bin/machine" --output "$scratch" >"$scratch/said" 2>&1
if grep -q '^gpu.name	none' "$scratch/machine.tsv"; then
	skip_all "$(sed -n 's/^gpu.reason	//p' "$scratch/machine.tsv")"
fi

# two GPUs and more are another machine's
probes=$(cd "$root" && for folder in probes/*/ factor/calibration/*/; do basename "$folder"; done | grep -v -e '^host_' -e '^peer$' -e '^collective$')
# shellcheck disable=SC2086 # a list of names
"$bin/probe" --quick --output "$scratch" $probes >/dev/null 2>"$scratch/warnings"
status=$?
for probe in $probes; do
	[ -s "$scratch/$probe.tsv" ] && ! grep -q "$probe: process .* failed" "$scratch/warnings"
	result $? "$probe measures"
done
if [ $status -ne 0 ]; then
	sed 's/^/# /' "$scratch/warnings" >&2
fi
for probe in barrier gemm_rate gemv_rate; do
	expect 0 'all checks passed' "$probe computes what it is asked" "$bin/$probe" --check
done
expect 0 '^gpu.launch.enqueue ' 'a profile follows' "$bin/fit" --output "$scratch"
grep '	failed$' "$scratch/profile.tsv" | sed 's/^/# /' >&2
echo "1..$number"
