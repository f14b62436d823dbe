#!/bin/sh
# SPDX-License-Identifier: MIT
# One word for one thing: tests/words.txt lists names that the tree has given up, with the name that took their place.
# None of them stands in code, scripts, columns, options or file names.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root" || exit 1
. tests/tap.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk '!/^#/ && NF && !/^file:/ { print $1 }' tests/words.txt >"$work/words"
sed -n 's/^file:\([^ ]*\).*/\1/p' tests/words.txt | cat "$work/words" - >"$work/names"
find lib probes programs factor plots scripts tests examples Makefile fathom -type f ! -name words.txt | sort >"$work/files"
xargs grep -nwFf "$work/words" <"$work/files" >"$work/found"
if [ ! -s "$work/found" ]; then
	report ok "no old name in $(wc -l <"$work/files") files ($(wc -l <"$work/words") names)"
else
	report "not ok" "no old name in the files"
	head -n 20 "$work/found" | sed 's/^/# /' >&2
fi
sed 's|.*/||; s|\..*||' "$work/files" | grep -xFf "$work/names" >"$work/stems"
if [ ! -s "$work/stems" ]; then
	report ok "no file carries an old name"
else
	report "not ok" "no file carries an old name"
	sed 's/^/# /' "$work/stems" >&2
fi
echo "1..$number"
