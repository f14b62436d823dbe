# SPDX-License-Identifier: MIT
# The report's first sections, as markup: a summary, the machine.
#   awk -v own=DIR -v gpu=DIR -v reason=TEXT -v more=FILE -v host=NAME -v driver=TEXT -v now=SECONDS -f common.awk -f machine.awk
# FILE: markup that ends the first section.

function fact(T, key,   i) {
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "key"] == key)
			return T[i, "value"]
	return "unknown"
}
function fact_with_unit(T, key, unit,   x) {
	x = fact(T, key)
	return is_number(x) ? with_unit(x, unit) : x
}
function version(text) { return (text ~ /^fathom / ? "" : "fathom ") text }
function meta(T, key) { return ("meta", key) in T ? T["meta", key] : "unknown" }

# Whole days since 1970 of a date that starts YYYY-MM-DD.
function days(date,   y, m, d) {
	y = substr(date, 1, 4) + 0
	m = substr(date, 6, 2) + 0
	d = substr(date, 9, 2) + 0
	if (m <= 2) {
		y--
		m += 12
	}
	return 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * (m - 3) + 2) / 5) + d - 719469
}

# The value of a key in a file's first lines, "" without.
function head_of(file, key,   line, text) {
	text = ""
	while (text == "" && (getline line <file) > 0 && line ~ /^#/)
		if (index(line, "# " key ": ") == 1)
			text = substr(line, length(key) + 5)
	close(file)
	return text
}

# Files that another machine or another version of fathom measured, whole or in part.
function other_runs(folder, T,   i, n, file, names, found, run, line) {
	n = split("measurements bench breakdown_measured kerr update update_paper gram_host", names, " ")
	found = ""
	for (i = 1; i <= n; i++) {
		file = folder "/" names[i] ".tsv"
		if (head_of(file, "fathom") == "")
			continue
		run = version(head_of(file, "fathom")) " on machine " head_of(file, "machine")
		if (run != version(meta(T, "fathom")) " on machine " meta(T, "machine"))
			found = found (found == "" ? "" : "; ") names[i] ".tsv " head_of(file, "date") " by " run
		while ((getline line <file) > 0 && line ~ /^#/)
			if (sub(/^# rows_of_another_run: /, "", line))
				found = found (found == "" ? "" : "; ") names[i] ".tsv, " line
		close(file)
	}
	if (found != "")
		note("Measured by other runs than the profile: " found ".")
}

# What predictions or measurements say about sizes that were tuned for another GPU.
function other_tuning(folder,   i, n, names, text) {
	n = split("predictions measurements bench update", names, " ")
	text = ""
	for (i = 1; i <= n && text == ""; i++)
		text = head_of(folder "/" names[i] ".tsv", "tuning")
	if (text != "")
		note("Kernels and plans are " text " (docs/portability.md).")
}

function profile_lines(folder, what,   T, age, M) {
	if (!load(folder "/profile.tsv", T)) {
		paragraph("There is no profile in " folder ": make fit assembles one from the curves.")
		return
	}
	age = meta(T, "date") ~ /^[0-9]/ ? int(now / 86400) - days(meta(T, "date")) : ""
	paragraph(what ": " folder "/profile.tsv, measured " meta(T, "date") \
		(age != "" ? " (" plural(age, "day") " before this report)" : "") " on " meta(T, "cpu") \
		(meta(T, "gpu") !~ /none|unknown/ ? " with " meta(T, "gpu") ", driver " meta(T, "driver") ", CUDA " meta(T, "cuda") : \
		", no GPU") ", by " version(meta(T, "fathom")) ".")
	if (meta(T, "quick") == "yes")
		note("This profile comes from a quick run (--quick): fewer and shorter samples.")
	other_runs(folder, T)
	other_tuning(folder)
	load(folder "/machine.tsv", M)
	stale(T, M, folder)
}

function stale(T, M, folder) {
	if (M["rows"] && fact(M, "machine") != meta(T, "machine"))
		note("Stale: " folder "/machine.tsv describes machine " fact(M, "machine") ", the profile was measured on " \
			meta(T, "machine") ".")
	if (M["rows"] && fact(M, "gpu.driver") != "unknown" && fact(M, "gpu.driver") != meta(T, "driver"))
		note("Stale: the driver is " fact(M, "gpu.driver") ", the profile was measured with " meta(T, "driver") ".")
	if (meta(T, "host") != host)
		paragraph("The data comes from another machine (host " meta(T, "host") ") than the one that wrote this report.")
	else if (driver != "" && meta(T, "driver") != "unknown" && driver != meta(T, "driver"))
		note("Stale: this machine's driver is now " driver ", the profile was measured with " meta(T, "driver") \
			": run make probe.")
}

function machine_table(folder, id,   T, i) {
	if (!load(folder "/machine.tsv", T)) {
		paragraph("The machine is not described: " folder "/machine.tsv is missing.")
		return
	}
	table_start(id, "Machine " fact(T, "machine"), "<property|<value")
	if (fact(T, "gpu.name") != "none") {
		table_row("", "GPU|" fact(T, "gpu.name") ", compute capability " fact(T, "gpu.compute_capability"))
		table_row("", "SMs, highest clock|" fact(T, "gpu.sms") ", " fact_with_unit(T, "gpu.clock.highest_hz", "Hz"))
		table_row("", "L2, memory|" fact_with_unit(T, "gpu.l2.bytes", "B") ", " fact_with_unit(T, "gpu.memory.bytes", "B"))
		table_row("", "driver, CUDA runtime|" fact(T, "gpu.driver") ", " fact(T, "gpu.cuda.runtime"))
		table_row("", "ECC, MIG|" fact(T, "gpu.ecc") ", " fact(T, "gpu.mig"))
		table_row("", "GPU locality|" fact(T, "gpu.locality"))
	} else
		table_row("", "GPU|none (" fact(T, "gpu.reason") ")")
	table_row("", "processor|" fact(T, "host.cpu"))
	table_row("", "cores, NUMA nodes|" fact(T, "host.cores") ", " fact(T, "host.numa_nodes"))
	table_row("", "caches L1d, L2, L3|" fact_with_unit(T, "host.l1d.bytes", "B") ", " \
		fact_with_unit(T, "host.l2.bytes", "B") ", " fact_with_unit(T, "host.l3.bytes", "B"))
	table_row("", "memory|" fact_with_unit(T, "host.memory.bytes", "B"))
	table_row("", "virtualization|" fact(T, "host.virtualization"))
	table_row("", "BLAS|" fact(T, "host.blas.config") \
		(fact(T, "host.blas.core_by") == "OPENBLAS_CORETYPE" ? ", kernels chosen by OPENBLAS_CORETYPE" : ""))
	table_row("", "system|" fact(T, "host.system") ", " fact(T, "host.kernel"))
	table_end()
	details("All facts of machine.tsv")
	table_start(id "-all", "", "<key|<value")
	for (i = 1; i <= T["rows"]; i++)
		table_line("", T[i, "key"] "\t" T[i, "value"])
	table_end()
	details_end()
}

function shown(what, name) {
	item(what ": " (value(name) == "" ? "not measured here" : with_unit(value(name), P[row_of[name], "unit"]) \
		(P[row_of[name], "status"] == "ok" ? "" : " (" P[row_of[name], "status"] ")")))
}

BEGIN {
	heading(2, "short", "Summary")
	if (gpu != "") {
		read_profile(gpu "/profile.tsv")
		if (gpu != own)
			note("No GPU was measured in " own ": the recorded machine " gpu " answers questions on the GPU, with the times of its own host.")
		shown("kernel launch, enqueue on the host", "gpu.launch.enqueue")
		shown("dependent kernel launch, device", "gpu.launch.dependent")
		shown("node of a CUDA graph, device", "gpu.launch.graph_node")
		shown("barrier over the grid (" (grid_barrier() == "" ? "counter" : grid_barrier()) ")", grid_barrier())
		shown("DRAM copy, read + written", "gpu.dram.copy")
		if (value("gpu.shared.read") != "") # older profiles lack it
			shown("shared memory of all SMs, read", "gpu.shared.read")
		shown("pinned memory to the device", "link.h2d.pinned.beta")
	} else
		note("No GPU was measured and there is no recorded machine: questions on the GPU have no answer.")
	if (gpu != own) {
		read_profile(own "/profile.tsv")
		shown("host memory copy, read + written", "host.memory.copy.peak")
	}
	while (more != "" && (getline line <more) > 0)
		print line
	heading(2, "machine", "Machine")
	if (reason != "")
		note("Data of " own ": " reason ".")
	profile_lines(own, "Profile")
	machine_table(own, "facts")
	if (gpu != "" && gpu != own) {
		heading(3, "recorded", "The recorded machine that answers questions on the GPU")
		profile_lines(gpu, "Recorded profile")
		machine_table(gpu, "facts-recorded")
	}
}
