# SPDX-License-Identifier: MIT
# Errors of changed QR factorizations, from DATA/update.tsv (ours, and a new QR) and DATA/update_paper.tsv (Andrew and Dingle's
# algorithms), as markup: awk -v data=DATA -f common.awk -f update_errors.awk
# Rows have ratios to m 2^-24, of norms over a few random vectors.
function larger(a, b) { return b + 0 > a + 0 ? b + 0 : a }
function collect(   i, key, who) {
	for (i = 1; i <= T["rows"]; i++) {
		who = T[i, "variant"] ~ /^(update|paper|refactor)$/ ? T[i, "variant"] : ""
		if (who == "" || T[i, "executor"] != "cuda" || T[i, "precision"] != "s" || field(i, "phase") != "")
			continue
		key = T[i, "operation"] "|" field(i, "q") "|" who
		if (is_number(T[i, "residual"])) {
			cases[key]++
			backward[key] = larger(backward[key], T[i, "residual"] * T[i, "m"] / 16777216)
		}
		if (is_number(T[i, "orthogonality"]))
			lost[key] = larger(lost[key], T[i, "orthogonality"] * T[i, "m"] / 16777216)
	}
}
function cell(x) { return x > 0 ? sprintf("%.1e", x) : "-" }
function line_for(change, q, words,   key, line, w, who) {
	split("update paper refactor", who, " ")
	key = change "|" q "|"
	for (w = 1; w <= 3; w++)
		line = line "|" cell(backward[key who[w]])
	for (w = 1; w <= 3; w++)
		line = line "|" cell(lost[key who[w]])
	if (cases[key "update"])
		table_row("", words "|" q "|" cases[key "update"] + 0 line)
}
BEGIN {
	load(data "/update.tsv", T, "study")
	load(data "/update_paper.tsv", T, "paper")
	collect()
	table_start("update-errors", "Largest errors after a change, single precision (Tables 4 and 5 of the paper): backward error, and loss of orthogonality", \
		"<change|<Q|>cases|>error, ours|>paper's way|>new QR|>Q'Q, ours|>paper's way|>new QR")
	split("add_columns remove_columns add_rows remove_rows", change, " ")
	split("columns added,columns removed,rows added,rows removed", words, ",")
	split("none thin full", q, " ")
	for (c = 1; c <= 4; c++)
		for (k = 1; k <= 3; k++)
			line_for(change[c], q[k], words[c])
	table_end("Norms over a few random vectors X: norm(Q R X - A X) / norm(A X), without Q norm(R'R X - A'A X) / norm(A'A X), and" \
		" norm(Q'Q X - X) / norm(X). The larger of this and the gradient of the least-squares solution counts. Rows removed without Q" \
		" use A instead, and lose accuracy with the condition of R. The paper's way: other and fewer matrices.")
}
