# SPDX-License-Identifier: MIT
# Table 2 and Figure 10 of Brandes et al. with recorded machines, and what transfers and ECC mean, as markup:
#   awk -v papers=data/papers -v folders="DIR|DIR" -f common.awk -f gram_machines.awk
# Rates are of modified Gram-Schmidt on a square in single precision, the fastest form and size. The text is of the first folder.

# number[NAME]: the profile's single numbers; its functions are many rows. False without a profile.
function read_numbers(folder,   file, line, cell, some) {
	split("", number)
	file = folder "/profile.tsv"
	while ((getline line <file) > 0) {
		some = 1
		if (line !~ /^#/ && line !~ /^[^\t]*[[]/ && split(line, cell, "\t") >= 9 && cell[9] != "failed" && is_number(cell[2]))
			number[cell[1]] = cell[2] + 0
	}
	close(file)
	return some
}
# The fastest squares by modified Gram-Schmidt in the folder's bench: rate, form, size and seconds [EXECUTOR].
function read_squares(folder,   file, line, cell, n, i, at, executor) {
	split("", rate)
	file = folder "/bench.tsv"
	while ((getline line <file) > 0) {
		if (line ~ /^operation\t/)
			for (i = split(line, cell, "\t"); i > 0; i--)
				at[cell[i]] = i
		if (line !~ /^gramschmidt\t/ || line ~ /\t(block|twice)\t|compiler=/)
			continue
		split(line, cell, "\t")
		n = cell[at["n"]] + 0
		executor = cell[at["executor"]]
		if (cell[at["precision"]] == "s" && cell[at["m"]] == n && !(cell[at["k"]] + 0 > 0 && cell[at["k"]] + 0 < n) && \
			is_time(cell[at["seconds"]]) && 2 * cube(n) / cell[at["seconds"]] > rate[executor] + 0) {
			rate[executor] = 2 * cube(n) / cell[at["seconds"]]
			form[executor] = cell[at["variant"]]
			size[executor] = n
			seconds[executor] = cell[at["seconds"]] + 0
		}
	}
	close(file)
}
function cell_of(executor) { return executor in rate ? significant(rate[executor] * 1e-9, 4) "|" form[executor] "|" size[executor] : "-|-|-" }
function rounded(x, unit) { return x > 0 ? sprintf(unit, x) : "-" }
function gpu_row(folder) {
	table_row("", base_of_path(folder) "|" fact_in(folder "/machine.tsv", "gpu.compute_capability") "|" number["gpu.sm.count"] "|" \
		rounded(number["gpu.clock.sm"] * 1e-6, "%.0f") "|" rounded(head_of(folder "/copy.tsv", "pin_bytes_per_second") * 1e-9, "%.0f") "|" \
		rounded(fact_in(folder "/machine.tsv", "gpu.memory.bytes") * 1e-9, "%.0f") "|" fact_in(folder "/machine.tsv", "gpu.ecc") "|" cell_of("cuda"))
}
function paper_gpu(name,   key) {
	key = tolower(name)
	table_row("", name "|" paper[key ".compute_capability"] "|" paper[key ".multiprocessors"] "|" paper[key ".core_clock_mhz"] "|" \
		sprintf("%.0f", paper[key ".memory_clock_mhz"] * paper[key ".bus_width_bit"] / 4000) "|" paper[key ".memory_gb"] "|-|-|-|-")
}
# The host's line is kept for the second table.
function host_row(folder,   name) {
	name = fact_in(folder "/machine.tsv", "host.cpu")
	gsub(/[(]R[)]|[(]TM[)]| Processor| CPU/, "", name)
	host[++hosts] = base_of_path(folder) ": " name "|" fact_in(folder "/machine.tsv", "host.sockets") "|" fact_in(folder "/machine.tsv", "host.cores") "|" \
		rounded(number["host.clock"] * 1e-6, "%.0f") "|" rounded(number["host.l2.stated"] / 1024, "%.0f") "|" \
		rounded(number["host.l3.stated"] / 1048576, "%.0f") "|" cell_of("host")
}
function paper_host(name, key) {
	table_row("", name "|-|" paper[key ".cores"] "|" paper[key ".clock_mhz"] "|" paper[key ".l2_kb"] "|" paper[key ".l3_mb"] "|-|-|-")
}
# To the GPU the matrix, back Q and R, by alpha + bytes / beta.
function say_transfers(   n, words, spent) {
	n = size["cuda"]
	words = n * n
	if (!("cuda" in rate) || !(number["link.h2d.pinned.beta"] * number["link.d2h.pinned.beta"] > 0))
		return
	spent = number["link.h2d.pinned.alpha"] + 4 * words / number["link.h2d.pinned.beta"] + \
		2 * number["link.d2h.pinned.alpha"] + 8 * words / number["link.d2h.pinned.beta"]
	transfers = "The paper calls transfers negligible beside the work. Here, at n = " n ", the matrix to the GPU and Q and R back would take " \
		with_unit(spent, "s") " by the profile, beside " with_unit(seconds["cuda"], "s") " of work (" form["cuda"] "): " \
		percent(spent / (spent + seconds["cuda"])) " % of the whole time. The share falls with 1/n."
}
BEGIN {
	read_paper("brandes2012")
	n = split(folders, each, "|")
	table_start("gram-machines", "GPUs (Table 2 and Figure 10 of the paper): the best rate of modified Gram-Schmidt, single precision", \
		"<GPU|>capability|>SMs|>MHz|>pins GB/s|>GB|<ECC|>Gflop/s|<form|>n")
	for (i = 1; i <= n; i++) {
		if (head_of(each[i] "/profile.tsv", "gpu") ~ / of [0-9]+ SMs/ || !read_numbers(each[i]))
			continue # a part of a GPU
		read_squares(each[i])
		if (i == 1)
			say_transfers()
		if (number["gpu.sm.count"] > 0) {
			gpu_row(each[i])
			gpus++
			ecc += fact_in(each[i] "/machine.tsv", "gpu.ecc") == "yes"
		}
		host_row(each[i])
	}
	split("C1060 M2050 M2090 GTX460 GTX480 GTX580", name, " ")
	for (i = 1; i <= 6 && gpus; i++)
		paper_gpu(name[i])
	table_end("ECC is on in " ecc + 0 " of " gpus + 0 " records. In the paper an M2050 without ECC was " paper["m2050.ecc_off_gain"] " times as fast." \
		(transfers == "" ? "" : " " transfers))
	table_start("gram-hosts", "CPUs (Table 2 and Figure 10 of the paper): the same, by the probes' largest number of threads", \
		"<CPU|>sockets|>cores|>MHz|>L2 kB|>L3 MB|>Gflop/s|<form|>n")
	for (i = 1; i <= hosts; i++)
		table_row("", host[i])
	if (hosts) {
		paper_host("Xeon X5650", "x5650")
		paper_host("i5 750", "i5-750")
		paper_host("Opteron 8435", "opteron8435")
	}
	table_end("L2 of a core, L3 of the host. On eight cores or more the probes leave an eighth free. The paper shows its rates in a figure alone.")
}
