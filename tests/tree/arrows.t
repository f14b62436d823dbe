#!/bin/sh
# SPDX-License-Identifier: MIT
# Includes and calls run down the tree only: tests/tree/arrows.txt lists the pairs of folders. Calls are read from the
# objects of the build, so the test needs nm.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
build=${bin%/bin}
make_scratch

# check STATUS WHAT FILE: a result; the file's first lines explain a failure.
check() {
	result "$1" "$2"
	[ "$1" -eq 0 ] || head -n 20 "$3" | sed 's/^/# /' >&2
}

# unit PATH: the folder of the list that a file belongs to; each probe is a unit of its own.
units='
function unit(path,   best, f) {
	sub(/^\.\//, "", path)
	if (path ~ /^probes\//) { split(path, p, "/"); return "probes/" p[2] }
	for (f in known)
		if (index(path, f "/") == 1 && length(f) > length(best))
			best = f
	return best
}
function key(u) { return u ~ /^probes\// ? "probes/*" : u }
FILENAME == list {
	if ($0 ~ /^#/ || !NF)
		next
	from = $1
	sub(/:$/, "", from)
	known[from] = 1
	for (i = 2; i <= NF; i++)
		may[from, $i] = 1
	next
}
function allowed(a, b) { return a == b || ((key(a), key(b)) in may) || (b ~ /^probes\// && ((key(a), "probes") in may)) }
'

# The list itself has no circle.
awk '!/^#/ && NF { sub(/:$/, "", $1); for (i = 2; i <= NF; i++) print $1, $i }' tests/tree/arrows.txt >"$scratch/pairs"
tsort "$scratch/pairs" >/dev/null 2>"$scratch/circles"
check $? "the list of pairs has no circle" "$scratch/circles"

# Includes.
find lib probes factor programs -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort >"$scratch/files"
xargs grep -H '^#include "' <"$scratch/files" >"$scratch/includes"
awk -v list=tests/tree/arrows.txt "$units"'
{
	split($0, part, ":")
	file = part[1]
	name = $0
	sub(/^[^"]*"/, "", name)
	sub(/".*/, "", name)
	if (name !~ /\//)
		next # of the same folder, or made by the build
	a = unit(file)
	b = unit(name)
	if (a == "" || b == "" || !allowed(a, b))
		print file " includes " name
}' tests/tree/arrows.txt "$scratch/includes" >"$scratch/up"
[ ! -s "$scratch/up" ]
check $? "every include runs down ($(wc -l <"$scratch/includes") includes)" "$scratch/up"

# Files of one folder include each other without a path, others with the path from the root.
grep -E '"\.\./|"\./' "$scratch/includes" >"$scratch/relative"
[ ! -s "$scratch/relative" ]
check $? "no include climbs with .." "$scratch/relative"

# Calls.
if command -v nm >/dev/null && [ -d "$build/lib" ]; then
	# Objects whose source is there: a folder of builds keeps those of removed files.
	find "$build/lib" "$build/probes" "$build/factor" "$build/programs" -name '*.o' 2>/dev/null | sort | while read -r object; do
		source=${object#"$build"/}
		source=${source%.o}
		[ ! -f "$source" ] && [ ! -f "$source.c" ] || echo "$object"
	done >"$scratch/objects"
	xargs nm -A --no-sort <"$scratch/objects" 2>/dev/null | sed "s|^$build/||" |
		awk '{ f = $1; sub(/:.*/, "", f); print f "\t" $(NF - 1) "\t" $NF }' >"$scratch/symbols"
	awk -F '\t' -v list=tests/tree/arrows.txt "BEGIN { FS = \" \" } $units"'
	BEGIN { count = 0 }
	$2 ~ /^[TDBRVW]$/ { if (!($3 in home)) home[$3] = $1; next }
	$2 == "U" { user[++count] = $1; wanted[count] = $3 }
	END {
		for (i = 1; i <= count; i++) {
			if (!(wanted[i] in home))
				continue
			a = unit(user[i])
			b = unit(home[wanted[i]])
			if (a == "" || b == "")
				continue
			calls++
			if (!allowed(a, b))
				print user[i] " calls " wanted[i] " of " home[wanted[i]]
		}
		if (calls < 100)
			print "only " calls + 0 " calls between files were found"
	}' tests/tree/arrows.txt "$scratch/symbols" | sort -u >"$scratch/calls"
	[ ! -s "$scratch/calls" ]
	check $? "every call runs down" "$scratch/calls"
else
	report ok "every call runs down # SKIP no objects, or no nm"
fi
echo "1..$number"
