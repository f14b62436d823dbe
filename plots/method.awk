# SPDX-License-Identifier: MIT
# The report's table on how things were measured, as markup: awk -v id=own -f common.awk -f method.awk FILE...
BEGIN {
	table_start("method-" id, "", "<file|<date|>processes|>points|>samples|>discarded|>busy|>SM clock|!<binding|!<quick")
	for (a = 1; a < ARGC; a++) {
		delete T
		delete seen
		if (!load(ARGV[a], T))
			continue
		points = samples = discarded = busy = 0
		for (i = 1; i <= T["rows"]; i++) {
			samples += is_number(T[i, "samples"]) ? T[i, "samples"] : 0
			discarded += is_number(T[i, "discarded"]) ? T[i, "discarded"] : 0
			busy += T[i, "busy"] + 0
			points += T[i, "process"] == T[1, "process"]
		}
		name = ARGV[a]
		sub(/.*\//, "", name)
		table_row(busy ? "noisy" : "", name "|" T["meta", "date"] "|" T["meta", "processes"] "|" points "|" \
			samples "|" discarded "|" busy \
			"|" with_unit(T["meta", "sm_hz"], "Hz") "|" T["meta", "binding"] "|" T["meta", "quick"])
	}
	table_end()
	ARGC = 1
	exit
}
