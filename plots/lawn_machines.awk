# SPDX-License-Identifier: MIT
# Table 1 of LAWN 202 with recorded machines, as markup:
#   awk -v papers=data/papers -v folders="DIR|DIR" -f common.awk -f lawn_machines.awk
# Peaks are those of all units at the measured clock, by the device description; pins come from the head of copy.tsv.
function greater(a, b) { return a + 0 > b + 0 ? a : b }
function rounded(x, unit) { return x > 0 ? sprintf(unit, x) : "-" }
function above(x) { return x > 0 ? sprintf("%d", int(x) < x ? int(x) + 1 : x) : "-" }
function quotient(a, b) { return a > 0 && b > 0 ? a / b : "" }
function machine_row(folder,   single, fma, double, pins, read) {
	if (!read_profile(folder "/profile.tsv") || value("gpu.fma.s.rate") == "")
		return
	fma = value("gpu.fma.s.rate")
	single = units(fma)
	read = greater(value("gpu.fma.d.rate"), value("gpu.mma.d16.rate"))
	double = units(read)
	pins = head_of(folder "/copy.tsv", "pin_bytes_per_second")
	table_row("", base_of_path(folder) "|" sm_count() "|" rounded(value("gpu.clock.sm") * 1e-9, "%.2f") "|" rounded(single * 1e-12, "%.3g") "|" \
		rounded(double * 1e-12, "%.3g") "|" rounded(pins * 1e-9, "%.0f") "|" rounded(fact_in(folder "/machine.tsv", "gpu.memory.bytes") * 1e-9, "%.0f") "|" \
		rounded(quotient(4 * single, pins), "%.0f") "|" rounded(quotient(8 * double, pins), "%.0f") "|" \
		above(quotient(4 * fma, value("gpu.dram.read"))) "|" above(quotient(4 * fma, value("gpu.l2.read"))) "|" \
		above(quotient(8 * read, value("gpu.dram.read"))))
}
function paper_row(name, key) {
	table_row("", name "|" paper[key ".simd_cores"] "|" sprintf("%.2f", paper[key ".core_clock"]) "|" significant(paper[key ".peak"] * 1e-3, 3) "|-|" \
		paper[key ".pin_bandwidth"] "|" significant(paper[key ".memory"] * 1e-3, 2) "|" paper[key ".flops_per_word"] "|-|" paper[key ".flops_per_word"] "|-|-")
}
BEGIN {
	read_paper("volkov2008")
	table_start("lawn-machines", "Recorded machines and the paper's GPUs (LAWN 202, Table 1)", \
		"<machine|>SMs|>GHz|>Tflop/s|>in d|>pins GB/s|>GB|>flop/word|>in d|>tile|>of L2|>in d")
	n = split(folders, each, "|")
	for (i = 1; i <= n; i++)
		machine_row(each[i])
	if (table_head == "") {
		paper_row("8800GTX", "8800gtx")
		paper_row("FX5600", "fx5600")
		paper_row("8800GTS", "8800gts")
		paper_row("8600GTS", "8600gts")
	} else
		table_head = ""
	if (n)
		table_end("Peaks of all units (d: double precision, by tensor cores where they are faster) over the rate of the memory's pins give flops a " \
			"word. A product by b x b tiles of C does b flops a word (4.1): tile is the least b that hides memory, in single precision " \
			"from DRAM and from L2 and in double precision from DRAM, by the measured rates; the paper's by its peaks and pins.")
}
