#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/situations.md: the code says every sentence that the page quotes, up to numbers and names, and every test that it names is
# there.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
make_scratch

# The strings of the sources; those next to each other are one.
find lib probes programs factor -name '*.[ch]' -exec cat {} + | tr '\n\t' '  ' | sed -e 's/" *"//g' >"$scratch/said"
awk -F'|' '/^\|/ {
	for (i = split($3, part, "\"") - 1; i > 1; i -= 2) {
		gsub(/[0-9][^ ]*/, "\n", part[i])
		gsub(/\.\.\.|: |(GPU|MIG)-|HWLOC_SYNTHETIC|NAME|[A-Z_]+=|[ (]N /, "\n", part[i])
		print part[i]
	}
}' docs/situations.md | sed -e 's/^[ ,()]*//' -e 's/[ ,(]*$//' | awk 'length > 6' >"$scratch/quoted"
while IFS= read -r words; do
	grep -qFe "$words" "$scratch/said" || echo "$words"
done <"$scratch/quoted" >"$scratch/unsaid"
test "$(wc -l <"$scratch/quoted")" -gt 30 && test ! -s "$scratch/unsaid"
result $? 'what the page quotes is said'
sed 's/^/# /' "$scratch/unsaid" >&2

awk -F'|' '/^\|/ { print $5 }' docs/situations.md | tr '`' '\n' | grep -e '^test_[a-z_]*$' -e '^[a-z_]*\.t$' | sort -u >"$scratch/tests"
while IFS= read -r name; do
	test -n "$(find tests -name "$name" -o -name "$name.c")" || echo "$name"
done <"$scratch/tests" >"$scratch/lost"
test "$(wc -l <"$scratch/tests")" -gt 5 && test ! -s "$scratch/lost"
result $? 'the tests that it names are there'
sed 's/^/# /' "$scratch/lost" >&2
echo "1..$number"
