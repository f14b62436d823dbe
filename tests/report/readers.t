#!/bin/sh
# SPDX-License-Identifier: MIT
# Every row of the hardware that the fits make of recorded curves, of one GPU and of two, has a reader, which readers.txt names.

. "$(dirname "$0")/../tap.sh"
needs fit
make_scratch
list=$root/tests/report/readers.txt

# none WHAT FILE: a result; the file's lines explain a failure
none() {
	[ ! -s "$2" ]
	result $? "$1"
	sed 's/^/# /' "$2" | head -n 20 >&2
}

for machine in nvidia-h200 nvidia-h200-x2; do
	mkdir "$scratch/$machine" && cp "$root/data/$machine/"*.tsv "$scratch/$machine" && rm "$scratch/$machine/profile.tsv"
	"$bin/fit" --output "$scratch/$machine" >"$scratch/said" 2>&1
	result $? "the curves of $machine are fitted again"
done
awk -F '\t' '$8 == "hardware" { sub(/\[.*/, "", $1); print $1 }' "$scratch"/*/profile.tsv | sort -u >"$scratch/made"
awk '!/^#/ { sub(/^[^:]*:/, ""); for (i = 1; i <= NF; i++) print $i }' "$list" | sort >"$scratch/listed"
comm -23 "$scratch/made" "$scratch/listed" >"$scratch/unread"
none "each of the $(wc -l <"$scratch/made") families of hardware rows is in readers.txt" "$scratch/unread"
comm -13 "$scratch/made" "$scratch/listed" >"$scratch/stale"
none "which lists no family twice, and none that is no longer made" "$scratch/stale"
[ "$(wc -l <"$scratch/made")" -gt 200 ]
result $? "the families are those of a whole machine"

# A C program writes a name in quotes, a figure with underscores; elsewhere no letter of a name stands beside it.
awk '!/^#/ {
	file = $1
	sub(/:$/, "", file)
	part = split($0, cell, "\"")
	for (i = part > 1 ? 3 : 2; i <= NF; i++)
		print file "\t" $i "\t" (part > 1 ? cell[2] : "")
}' "$list" >"$scratch/pairs"
awk -F '\t' -v root="$root" '
function text_of(file,   line, all) {
	while ((getline line <(root "/" file)) > 0)
		if (line !~ /^# Parameters:/)
			all = all "\n" line
	return all "\n"
}
function has_word(text, word, letters,   at, from, before, after) {
	for (from = 1; (at = index(substr(text, from), word)) > 0; from += at) {
		before = substr(text, from + at - 2, 1)
		after = substr(text, from + at - 1 + length(word), 1)
		if (before !~ letters && after !~ letters)
			return 1
	}
	return 0
}
{
	if (!($1 in text))
		text[$1] = text_of($1)
	name = $2
	if ($1 ~ /[.]gp$/)
		gsub(/[.]/, "_", name)
	if ($3 != "" ? !index(text[$1], $3) : $1 ~ /[.]c$/ ? !index(text[$1], "\"" name "\"") : !has_word(text[$1], name, "[A-Za-z0-9_.]"))
		print $1 " does not name " $2
}' "$scratch/pairs" >"$scratch/silent"
none "each reader names what it is said to read" "$scratch/silent"
echo "1..$number"
