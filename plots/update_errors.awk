# SPDX-License-Identifier: MIT
# Errors of changed QR factorizations, from DATA/update.tsv (ours, and a new QR) and DATA/update_paper.tsv (Andrew and Dingle's
# algorithms, on the GPU and on the host), as markup: awk -v data=DATA -f common.awk -f update_errors.awk
# Rows have ratios to m 2^-24, of norms over a few random vectors.
function collect(   i, key) {
	for (i = 1; i <= T["rows"]; i++) {
		if (T[i, "variant"] !~ /^(update|paper|refactor)$/ || T[i, "executor"] == "model" || T[i, "precision"] != "s" || field(i, "phase") != "")
			continue
		key = T[i, "operation"] "|" field(i, "q") "|" T[i, "variant"] "|" T[i, "executor"]
		cases[key]++
		worst("residual", i, key)
		worst("orthogonality", i, key)
	}
}
function worst(measure, i, key,   x) {
	x = is_number(T[i, measure]) ? T[i, measure] * T[i, "m"] / 16777216 : 0
	if (x > largest[measure, key])
		largest[measure, key] = x
}
function errors_table(id, measure, caption,   c, k, w, way, line, key, any, change, words, q) {
	split("update|cuda paper|cuda refactor|cuda update|host paper|host refactor|host", way, " ")
	split("add_columns remove_columns add_rows remove_rows", change, " ")
	split("columns added,columns removed,rows added,rows removed", words, ",")
	split("none thin full", q, " ")
	table_start(id, caption, "<change|<Q|>cases|>ours, GPU|>paper's|>new QR|>ours, host|>paper's|>new QR")
	for (c = 1; c <= 4; c++)
		for (k = 1; k <= 3; k++) {
			line = any = ""
			for (w = 1; w <= 6; w++) {
				key = change[c] "|" q[k] "|" way[w]
				any = any || largest[measure, key] > 0
				line = line "|" (largest[measure, key] > 0 ? sprintf("%.1e", largest[measure, key]) : "-")
			}
			if (any)
				table_row("", words[c] "|" q[k] "|" cases[change[c] "|" q[k] "|update|cuda"] + 0 line)
		}
}
BEGIN {
	load(data "/update.tsv", T, "study")
	load(data "/update_paper.tsv", T, "paper")
	collect()
	errors_table("update-orthogonality", "orthogonality", "Loss of orthogonality after a change, norm(Q'Q X - X) / norm(X), single precision, the largest (Table 4 of the paper)")
	table_end("X: a few random vectors. Cases: ours on the GPU; the paper's algorithms have fewer and other matrices." \
		" On the host large products have all threads.")
	errors_table("update-errors", "residual", "Backward error after a change, norm(Q R X - A X) / norm(A X), single precision, the largest (Table 5 of the paper)")
	table_end("X: as above; without Q norm(R'R X - A'A X) / norm(A'A X), or the gradient of the least-squares solution where" \
		" that is larger.")
}
