# SPDX-License-Identifier: MIT
# The machine, as markup: with -v card=yes its card and what is stale, else where its data comes from, and all facts.
#   awk -v folder=DIR -v id=NAME -v host=NAME -v driver=TEXT -v now=SECONDS -f common.awk -f machine.awk

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
# The first lines of a table alone.
function load_head(file, T,   line, at, found) {
	split("", T)
	while ((getline line <file) > 0 && line ~ /^#/) {
		at = index(line, ": ")
		T["meta", substr(line, 3, at - 3)] = substr(line, at + 2)
		found = 1
	}
	close(file)
	return found
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
	if (!load_head(folder "/profile.tsv", T)) {
		paragraph("There is no profile in " folder ": fathom fit assembles one from the curves.")
		return
	}
	age = meta(T, "date") ~ /^[0-9]/ ? int(now / 86400) - days(meta(T, "date")) : ""
	paragraph(what ": " folder "/profile.tsv, measured " meta(T, "date") \
		(age != "" ? " (" plural(age, "day") " before this report)" : "") " on " meta(T, "cpu") \
		(meta(T, "gpu") !~ /none|unknown/ ? " with " meta(T, "gpu") ", driver " meta(T, "driver") ", CUDA " meta(T, "cuda") : \
		", no GPU") ", by " version(meta(T, "fathom")) ".")
	other_runs(folder, T)
}
function notes_of_age(folder,   T, M) {
	if (!load_head(folder "/profile.tsv", T))
		return
	if (meta(T, "quick") == "yes")
		note("This profile comes from a quick run (--quick): fewer and shorter samples.")
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
			": run fathom probe.")
}

function machine_table(folder, id,   T, i) {
	if (!load(folder "/machine.tsv", T)) {
		paragraph("The machine is not described: " folder "/machine.tsv is missing.")
		return
	}
	table_start(id, "", "<machine|<" fact(T, "machine"))
	if (fact(T, "gpu.name") != "none") {
		table_row("", "GPU|" fact(T, "gpu.name") ", compute capability " fact(T, "gpu.compute_capability") \
			(fact(T, "gpu.visible") > 1 ? ", one of " fact(T, "gpu.visible") " GPUs" : ""))
		table_row("", "SMs, clock|" fact(T, "gpu.sms") ", " fact_with_unit(T, "gpu.clock.highest_hz", "Hz"))
		table_row("", "L2, memory|" fact_with_unit(T, "gpu.l2.bytes", "B") ", " fact_with_unit(T, "gpu.memory.bytes", "B"))
		table_row("", "driver, CUDA|" fact(T, "gpu.driver") ", " fact(T, "gpu.cuda.runtime"))
	} else
		table_row("", "GPU|none (" fact(T, "gpu.reason") ")")
	table_row("", "processor|" fact(T, "host.cpu"))
	table_row("", "cores, nodes|" fact(T, "host.cores") ", " fact(T, "host.numa_nodes"))
	table_row("", "L1d, L2, L3|" fact_with_unit(T, "host.l1d.bytes", "B") ", " \
		fact_with_unit(T, "host.l2.bytes", "B") ", " fact_with_unit(T, "host.l3.bytes", "B"))
	table_row("", "its memory|" fact_with_unit(T, "host.memory.bytes", "B"))
	table_row("", "BLAS|" fact(T, "host.blas.config") \
		(fact(T, "host.blas.core_by") == "OPENBLAS_CORETYPE" ? ", kernels chosen by OPENBLAS_CORETYPE" : ""))
	if (load_head(folder "/profile.tsv", T))
		table_row("", "profile|" substr(meta(T, "date"), 1, 10) ", " version(meta(T, "fathom")))
	table_end()
}

BEGIN {
	if (card != "") {
		machine_table(folder, id)
		notes_of_age(folder)
		exit
	}
	profile_lines(folder, "Profile")
	if (load(folder "/machine.tsv", T)) {
		details("All facts of machine.tsv")
		table_start(id "-all", "", "<key|<value")
		for (i = 1; i <= T["rows"]; i++)
			table_line("", T[i, "key"] "\t" T[i, "value"])
		table_end()
		details_end()
	}
}
