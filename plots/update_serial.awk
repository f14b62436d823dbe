# SPDX-License-Identifier: MIT
# Andrew and Dingle's serial updates and errors (Tables 3 to 5), from DATA/update_paper.tsv (measure --paper), as markup:
#   awk -v data=DATA -f common.awk -f update_serial.awk
# place[1..]: a change of one matrix, as terms.
function collect(   i, where, operation) {
	for (i = 1; i <= T["rows"]; i++) {
		operation = T[i, "operation"]
		if (T[i, "executor"] == "model" || (operation !~ /^error_/ && T[i, "variant"] !~ /^(qrupdate|lapack)$/))
			continue
		sub(/^error_/, "", operation)
		where = " q=" field(i, "q") " m=" T[i, "m"] " n=" T[i, "n"] " k=" T[i, "k"] " p=" T[i, "p"]
		if (!((operation where) in known)) {
			known[operation where] = 1
			place[++places] = where
			change[places] = operation
			example[places] = i
		}
		if (T[i, "variant"] ~ /^(qrupdate|lapack)$/ && !is_time(T[i, "seconds"]) && operation == T[i, "operation"])
			reason = T[i, "note"]
	}
}
function head_of_row(a,   i, words) {
	i = example[a]
	words = change[a]
	gsub(/_/, " ", words)
	return words "|" field(i, "q") "|" T[i, "m"] " " T[i, "n"] " " T[i, "p"] " " (is_number(T[i, "k"]) ? T[i, "k"] : 0)
}
function seconds_of(a, executor, variant,   where, row) {
	where = place[a]
	if (variant == "refactor")
		sub(/ k=[^ ]*/, "", where)
	row = first_with("operation=" change[a] where " executor=" executor " variant=" variant " phase=", "seconds")
	return row ? T[row, "seconds"] + 0 : 0
}
function milliseconds(x) { return !x ? "-" : sprintf(x >= 0.0995 ? "%.0f" : x >= 0.00995 ? "%.1f" : "%.2f", 1e3 * x) }
function times(a, b) { return a && b ? significant(a / b, 2) : "-" }
function serial_table(   a, qrupdate, lapack, serial, gpu) {
	table_start("paper-serial", "Serial updates on the host and updates on the GPU: ms, with the solution", \
		"<change|<Q|<m n p k|>qrupdate|>LAPACK|>host: paper's|>ours|>new QR|>GPU: paper's|>ours|!>GPU over serial")
	for (a = 1; a <= places; a++) {
		qrupdate = seconds_of(a, "host", "qrupdate")
		lapack = seconds_of(a, "host", "lapack")
		serial = qrupdate && (!lapack || qrupdate < lapack) ? qrupdate : lapack
		gpu = seconds_of(a, "cuda", "paper")
		if (serial)
			table_row("", head_of_row(a) "|" milliseconds(qrupdate) "|" milliseconds(lapack) "|" milliseconds(seconds_of(a, "host", "paper")) "|" \
				milliseconds(seconds_of(a, "host", "update")) "|" milliseconds(seconds_of(a, "host", "refactor")) "|" milliseconds(gpu) "|" \
				milliseconds(seconds_of(a, "cuda", "update")) "|" times(serial, gpu))
	}
	table_end("qrupdate: one row or column after another. LAPACK: blocks of reflectors, and rotations. One thread works for" \
		" both. Ours, the paper's algorithms and a new QR have all threads of the host for large products and panels. Each matrix is in the memory" \
		" of the side that works; no transfers count. GPU over serial: the paper's algorithm on the GPU against the faster library." \
		(reason == "" ? "" : " Left out: " reason "."))
}
function error_of(a, executor, variant, error,   row) {
	row = first_with("operation=error_" change[a] place[a] " executor=" executor " variant=" variant " error=" error, "residual")
	return row ? sprintf("%.1e", T[row, "residual"]) : "-"
}
function error_table(error, id, caption,   a, w, n, way, line, any) {
	n = split("cuda update|cuda paper|cuda refactor|host update|host paper|host qrupdate|host lapack|host refactor", way, "|")
	table_start(id, caption, \
		"<change|<Q|<m n p k|>ours, GPU|>paper's|>new QR|>ours, host|>paper's|>qrupdate|>LAPACK|>new QR")
	for (a = 1; a <= places; a++) {
		line = ""
		for (w = 1; w <= n; w++)
			line = line "|" error_of(a, substr(way[w], 1, 4), substr(way[w], 6), error)
		any = line ~ /[0-9]/
		if (any)
			table_row("", head_of_row(a) line)
	}
}
BEGIN {
	if (!load(data "/update_paper.tsv", T))
		exit
	collect()
	serial_table()
	error_table("x", "paper-error-x", "Error of x after a change, norm(x - x1) / norm(x), single precision (Table 3 of the paper)")
	table_end("x: by LAPACK's QR of the changed matrix on the host, in the paper by CULA's on the GPU. The paper finds the errors of its GPU and" \
		" serial updates comparable.")
	error_table("q", "paper-error-q", "Loss of orthogonality after a change, norm(Q'Q - I) (Table 4 of the paper)")
	table_end("Norms in 2, by power iteration in double precision. In the paper GPU and serial errors are of the same order.")
	error_table("factors", "paper-error-factors", "Backward error after a change, norm(Q R - A) / norm(A) (Table 5 of the paper)")
	table_end("As above.")
}
