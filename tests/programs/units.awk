# SPDX-License-Identifier: MIT
# Numbers in the tables of a program's text (standard input) that lack a unit: one line each. The unit stands behind the number, in its
# column's head, in a column "unit", as the head of the row names, or in the two lines above the head. Counts and ratios have a head that
# says so. Fields are two spaces apart; a number belongs to the heads above it.
function says_unit(text) {
	return text ~ /(^|[^A-Za-z])([num]?s|[Ss]econds|[kMGT]B|[kMGT]?B\/s|[GT]flop\/s|[GM]?Hz|percent)([^A-Za-z]|$)|%/
}
function says_count(text) {
	return text ~ /^(m|n|k|p|nb|threads|rows|columns|samples|entries|cases|compared|beyond|parameters|points|calls|blocks|shapes|repeats)$/
}
function says_ratio(text) { return text ~ /^(speed|speedup|gain|efficiency|ratio|share)$/ }
function split_fields(line,   offset) {
	fields = offset = 0
	while (match(line, /[^ ]+( [^ ]+)*/)) {
		text[++fields] = substr(line, RSTART, RLENGTH)
		first[fields] = offset + RSTART
		last[fields] = offset + RSTART + RLENGTH - 1
		offset = last[fields]
		line = substr(line, RSTART + RLENGTH)
	}
}
function numbers(   i, n) {
	for (i = 1; i <= fields; i++)
		n += text[i] ~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/
	return n
}
# Whether a head above the number of this field, or what stands for all, has its unit.
function has_unit(f,   h) {
	if (says_unit(title) || whole)
		return 1
	for (h = 1; h <= heads; h++)
		if (first[f] <= head_last[h] && last[f] >= head_first[h] && (says_unit(head[h]) || says_count(head[h]) || says_ratio(head[h])))
			return 1
	return 0
}
function add_heads(   i) {
	for (i = 1; i <= fields; i++) {
		head[++heads] = text[i]
		head_first[heads] = first[i]
		head_last[heads] = last[i]
		whole = whole || text[i] == "unit" || (i == 1 && says_unit(text[i]))
	}
}
NR == 1 && /^key  *value$/ { facts = 1 }
facts {
	if ($2 ~ /^[-+]?[0-9.]+$/ && NF == 2 && $1 !~ /(bytes|hz|percent|per_second|sockets|nodes|cores|kinds|threads|count|throttled|load)$/)
		print "fact " $1 ": " $2
	next
}
/^    [^ ]/ && before > 80 { next } # a line that goes on (lib/base/wrap.h)
{
	before = length($0)
	split_fields($0)
}
fields < 2 && !/^ / { # a title, or what ends a table
	if (state == "rows")
		above = title = ""
	state = ""
	if (fields) {
		title = above " " $0
		above = $0
	}
	next
}
fields < 2 { next } # a line that goes on
!numbers() && state != "rows" {
	if (state == "")
		heads = whole = 0
	state = "heads"
	add_heads()
	next
}
state != "" {
	state = "rows"
	for (i = 1; i <= fields; i++)
		if (text[i] ~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/ && !has_unit(i))
			print text[i] " in: " $0
}
