#!/bin/sh
# SPDX-License-Identifier: MIT
# One word for one thing: tests/words.txt lists names that the tree has given up, with the name that took their place.
# None of them stands in code, scripts, columns, options or file names.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
make_scratch

awk '!/^#/ && NF && !/^file:/ { print $1 }' tests/words.txt >"$scratch/words"
sed -n 's/^file:\([^ ]*\).*/\1/p' tests/words.txt | cat "$scratch/words" - >"$scratch/names"
find lib probes programs factor plots scripts tests examples Makefile fathom -type f ! -name words.txt | sort >"$scratch/files"
xargs grep -nwFf "$scratch/words" <"$scratch/files" >"$scratch/found"
[ ! -s "$scratch/found" ]
result $? "no old name in $(wc -l <"$scratch/files") files ($(wc -l <"$scratch/words") names)"
head -n 20 "$scratch/found" | sed 's/^/# /' >&2
sed 's|.*/||; s|\..*||' "$scratch/files" | grep -xFf "$scratch/names" >"$scratch/stems"
[ ! -s "$scratch/stems" ]
result $? "no file carries an old name"
sed 's/^/# /' "$scratch/stems" >&2
echo "1..$number"
