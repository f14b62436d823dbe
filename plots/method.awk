# SPDX-License-Identifier: MIT
# The report's table on the measurements behind the curves, as markup: awk -v id=own -f common.awk -f method.awk FILE...
function file_row(   name) {
	if (!columns)
		return
	name = file
	sub(/.*\//, "", name)
	table_row(busy ? "noisy" : "", name "|" meta["date"] "|" meta["processes"] "|" points + 0 "|" samples + 0 "|" discarded + 0 "|" \
		busy + 0 "|" with_unit(meta["sm_hz"], "Hz") "|" meta["binding"] "|" meta["quick"])
}
BEGIN {
	FS = "\t"
	table_start("method-" id, "", "<file|<date|>processes|>points|>samples|>discarded|>busy|>SM clock|!<binding|!<quick")
}
FNR == 1 {
	file_row()
	file = FILENAME
	columns = points = samples = discarded = busy = 0
	split("", meta)
	split("", at)
}
/^#/ {
	colon = index($0, ": ")
	meta[substr($0, 3, colon - 3)] = substr($0, colon + 2)
	next
}
!columns {
	for (columns = 1; columns <= NF; columns++)
		at[$columns] = columns
	first = ""
	next
}
{
	first = first == "" ? $at["process"] : first
	points += $at["process"] == first
	samples += is_number($at["samples"]) ? $at["samples"] : 0
	discarded += is_number($at["discarded"]) ? $at["discarded"] : 0
	busy += $at["busy"] + 0
}
END {
	file_row()
	table_end()
}
