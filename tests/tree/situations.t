#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/situations.md: the code says every sentence that the page quotes, up to numbers and names, and every test that it names is
# there.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root" || exit 1
. tests/tap.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The strings of the sources; those next to each other are one.
find lib probes programs factor -name '*.[ch]' -exec cat {} + | tr '\n\t' '  ' | sed -e 's/" *"//g' >"$work/said"
awk -F'|' '/^\|/ {
	for (i = split($3, part, "\"") - 1; i > 1; i -= 2) {
		gsub(/[0-9][^ ]*/, "\n", part[i])
		gsub(/\.\.\.|: |(GPU|MIG)-|HWLOC_SYNTHETIC|NAME|[A-Z_]+=|[ (]N /, "\n", part[i])
		print part[i]
	}
}' docs/situations.md | sed -e 's/^[ ,()]*//' -e 's/[ ,(]*$//' | awk 'length > 6' >"$work/quoted"
while IFS= read -r words; do
	grep -qFe "$words" "$work/said" || echo "$words"
done <"$work/quoted" >"$work/unsaid"
test "$(wc -l <"$work/quoted")" -gt 30 && test ! -s "$work/unsaid"
result $? 'what the page quotes is said'
sed 's/^/# /' "$work/unsaid" >&2

awk -F'|' '/^\|/ { print $5 }' docs/situations.md | tr '`' '\n' | grep -e '^test_[a-z_]*$' -e '^[a-z_]*\.t$' | sort -u >"$work/tests"
while IFS= read -r name; do
	test -n "$(find tests -name "$name" -o -name "$name.c")" || echo "$name"
done <"$work/tests" >"$work/lost"
test "$(wc -l <"$work/tests")" -gt 5 && test ! -s "$work/lost"
result $? 'the tests that it names are there'
sed 's/^/# /' "$work/lost" >&2
echo "1..$number"
