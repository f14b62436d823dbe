# SPDX-License-Identifier: MIT
# QR by widths from measured stages (LAWN 202, sections 5 and 6.2): awk -v data=DIR -v papers=data/papers -f common.awk -f lawn_widths.awk
# Reads DIR/bench.tsv and prints a table as markup; nothing without a row of any kind there.

# The widths of a row in short: "256x4,128x28,64x56", or the number of blocks when they change often.
function widths_of(i,   plan, part, n, j, blocks, times) {
	plan = T[i, "plan"]
	if (!match(plan, /widths=[^ ]*/))
		return "all " T[i, "nb"] + 0
	plan = substr(plan, RSTART + 7, RLENGTH - 7)
	if (length(plan) <= 24)
		return plan
	n = split(plan, part, ",")
	for (j = 1; j <= n; j++)
		blocks += split(part[j], times, "x") > 1 ? times[2] : 1
	split(part[1], times, "x")
	return blocks " blocks, " times[1] + 0 " .. " part[n] + 0
}
function milliseconds(i) { return i && is_time(T[i, "seconds"]) ? significant(T[i, "seconds"] * 1e3, 4) : "-" }
function gain(i, j) { # of row i over row j
	return i && j && is_time(T[i, "seconds"]) && is_time(T[j, "seconds"]) ? percent(T[j, "seconds"] / T[i, "seconds"] - 1, "%+.1f") : "-"
}
# The plan is one of the options here; the column of that name has the widths.
function line(executor, n,   terms, options, sum, ours, one, model) {
	terms = "operation=widths_geqrf executor=" executor " n=" n " variant="
	options = " options=" (executor == "cuda" ? "l2" : "cache") "=warm"
	sum = fastest(terms "stages" options ",plan=stages")
	terms = terms (executor == "cuda" ? "gpu" : "hybrid") options
	ours = fastest(terms ",plan=stages")
	one = fastest(terms)
	model = fastest(terms ",plan=model")
	if (ours)
		table_row("", (executor == "cuda" ? "this GPU" : "host") "|" n "|" milliseconds(sum) "|" milliseconds(ours) "|" milliseconds(one) "|" \
			(one ? T[one, "nb"] + 0 : "-") "|" milliseconds(model) "|" gain(ours, one) "|" gain(ours, model) "|" widths_of(ours))
}
function lines(executor,   j, count, n) {
	count = numbers_of("operation=widths_geqrf executor=" executor, "n", n)
	for (j = 1; j <= count; j++)
		line(executor, n[j])
}
BEGIN {
	if (!load(data "/bench.tsv", T) || !T["rows"])
		exit
	read_paper("volkov2008")
	table_start("lawn-widths", "Widths of QR's blocks from measured stages (LAWN 202, section 5): milliseconds, gains in percent", \
		"<|>n|>sum|>measured|>one|>width|>model|>gain|>over model|<widths")
	table_row("", LAWN_NAME "|from " paper[LAWN_GPU ".autotuning_n"] "|-|-|-|-|-|" paper[LAWN_GPU ".qr.autotuning"] "|-|multiples of 64")
	lines("cuda")
	lines("host")
	table_end("Dynamic programming finds the widths with the least sum of measured stages. A stage is the update by one block beside the next panel." \
		" It is the time up to the second block's end, less that up to the first block's end. The sum leaves out overlap over more than two" \
		" blocks. One: the fastest single width of 32, 64, 128 and, on the GPU, 256 columns; the gain is over it. Model: the sequence that the profile" \
		" gives without these measurements. All run in turns, in single precision. The paper's best gains are " paper[LAWN_GPU ".qr.autotuning"] " % for QR, and for two levels of blocks " \
		paper[LAWN_GPU ".lu.autotuning"] " % for LU and " paper[LAWN_GPU ".cholesky.autotuning"] " % for Cholesky." \
		(rows_with("operation=widths_geqrf") == "" ? " fathom measure --bench --only widths measures ours; nothing is recorded here." : ""))
}
