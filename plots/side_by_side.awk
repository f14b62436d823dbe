# SPDX-License-Identifier: MIT
# Two machines by the table that compare makes (columns of side_by_side in docs/json.schema.json):
#   awk -v file=TSV -v folder=WORK -f common.awk -f side_by_side.awk                 folder/rows.tsv for ratios.gp; the number of rows
#   awk -v file=TSV -v part=operations|parameters -v first=NAME -v second=NAME -f common.awk -f side_by_side.awk       markup
function speed(i, end) { return is_number(T[i, end]) && T[i, end] + 0 > 0 ? 1 / T[i, end] : "" }
function limits(i) {
	return T[i, "first_limiter"] == "nan" ? "-" : T[i, "first_limiter"] == T[i, "second_limiter"] ? T[i, "first_limiter"] " on both" : \
		T[i, "first_limiter"] "; " T[i, "second_limiter"]
}
function count_of(what, verdict,   i, n) {
	for (i = 1; i <= T["rows"]; i++)
		n += T[i, "what"] == what && T[i, "verdict"] == verdict
	return n + 0
}
function write_rows(   i, place) {
	for (i = T["rows"]; i > 0; i--)
		if (T[i, "what"] == "operation" && speed(i, "ratio") != "") {
			begin_series("rows", "place speed low high label text verdict")
			printf "%d\t%.6g\t%.6g\t%.6g\t%s\t%s\t%s\n", ++place, speed(i, "ratio"), speed(i, "ratio_high"), speed(i, "ratio_low"), \
				T[i, "name"], sprintf("%.3g", speed(i, "ratio")), T[i, "verdict"] >(folder "/rows.tsv")
		}
	if (place)
		print place
}
function print_operations(   i) {
	paragraph(second " against " first ": faster in " plural(count_of("operation", "faster"), "operation") ", slower in " \
		count_of("operation", "slower") ", the same in " count_of("operation", "same") "; " count_of("operation", "open") \
		" are open: the intervals do not tell. Both are predicted from their profiles, each by its fastest way; what the model gets wrong it " \
		"gets wrong on both, so the interval is that of the parameters.")
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "what"] == "operation" && T[i, "verdict"] != "same" && T[i, "verdict"] != "open")
			item(T[i, "name"] ": " sprintf("%.3g", speed(i, "ratio")) " times the speed (" sprintf("%.3g", speed(i, "ratio_high")) " .. " \
				sprintf("%.3g", speed(i, "ratio_low")) "), limited by " limits(i) ".")
	table_start("operations", "Operations, predicted", "<operation|>" first "|>" second "|>speed ratio|>interval|<verdict|<limited by")
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "what"] == "operation")
			table_row("", T[i, "name"] "|" with_unit(T[i, "first"], "s") "|" with_unit(T[i, "second"], "s") "|" \
				(speed(i, "ratio") == "" ? "-|-" : sprintf("%.3g|%.3g .. %.3g", speed(i, "ratio"), speed(i, "ratio_high"), speed(i, "ratio_low"))) "|" \
				T[i, "verdict"] "|" limits(i))
	table_end()
}
# Single numbers of the hardware alone: curves are in the figures.
function print_parameters(   i) {
	table_start("parameters", "Single parameters of the hardware that differ", "<parameter|>" first "|>" second "|>ratio|>interval|<verdict")
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "what"] == "parameter" && T[i, "regime"] == "hardware" && T[i, "name"] !~ /[[]/ && T[i, "verdict"] !~ /same|open/)
			table_row("", T[i, "name"] "|" valued(T[i, "first"], T[i, "unit"]) "|" valued(T[i, "second"], T[i, "unit"]) "|" \
				sprintf("%.3g|%.3g .. %.3g", T[i, "ratio"], T[i, "ratio_low"], T[i, "ratio_high"]) "|" T[i, "verdict"])
	table_end("Ratio: " second " / " first ". The file has every parameter.")
}
BEGIN {
	load(file, T)
	if (part == "operations")
		print_operations()
	else if (part == "parameters")
		print_parameters()
	else
		write_rows()
}
