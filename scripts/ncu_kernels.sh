#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels that are not ours, as ncu sees them: a file of counters each, then their times beside the law's answers from the
# descriptions by hand and from these files as they are. Without counters the first table alone, and exit status 77.
# Usage: sh scripts/ncu_kernels.sh PROGRAM OUTPUT FOLDER-FOR-COUNTERS
program=$1 output=$2 folder=$3
here=$(dirname "$0")
worst=0
kernels=$("$program" --list | cut -f 1)
COUNTERS=$(sh "$here/ncu.sh" --counters) || worst=$? kernels=''
export COUNTERS
for kernel in $kernels; do
	sh "$here/ncu.sh" "$folder/$kernel.csv" "$program" --profile "$kernel"
	status=$?
	[ $status -eq 0 ] && continue
	rm -f "$folder/$kernel.csv"
	worst=$status
	[ $status -ne 77 ] || break
done
set -- --ncu "$folder"
[ $worst -ne 77 ] || shift 2
"$program" --output "$output" "$@" || exit $?
exit $worst
