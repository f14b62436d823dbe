#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/reliability.md: every test that it names is there, and so is every target of make.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
make_scratch

# The last column of two names, the last but one of four.
awk -F'|' '/^\|/ { print NF == 4 ? $3 : $4 "`" $5 }' docs/reliability.md | tr '`' '\n' >"$scratch/named"
grep -e '^test_[a-z_]*$' -e '^[a-z_]*\.t$' "$scratch/named" | sort -u | while IFS= read -r name; do
	test -n "$(find tests -name "$name" -o -name "$name.c")" || echo "$name"
done >"$scratch/lost"
test "$(grep -c -e '^test_' -e '\.t$' "$scratch/named")" -gt 60 && test ! -s "$scratch/lost"
result $? 'the tests that it names are there'
sed 's/^/# /' "$scratch/lost" >&2
sed -n 's/^make \([a-z-]*\).*/\1/p' "$scratch/named" | sort -u | while IFS= read -r target; do
	grep -q "^$target:\|^[a-z -]* $target:" Makefile scripts/checks.mk || echo "$target"
done >"$scratch/lost"
test ! -s "$scratch/lost"
result $? 'the targets of make are there'
sed 's/^/# /' "$scratch/lost" >&2
# Each target of make fuzz has its seeds, and the other way round.
basename -s .c tests/fuzz/fuzz_*.c | sed 's/fuzz_//' | sort >"$scratch/targets"
ls tests/fuzz/corpus | cmp -s - "$scratch/targets"
result $? 'every fuzz target has seeds'
echo "1..$number"
