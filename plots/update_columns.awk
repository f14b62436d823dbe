# SPDX-License-Identifier: MIT
# Columns added to a QR factorization with all of Q by the place k, as series for update_columns.gp, from DATA/update.tsv and
# DATA/update_predictions.tsv: awk -v data=DATA -v papers=data/papers -v folder=WORK -f common.awk -f update_columns.awk
# writes WORK/{ours,model,cusolver}_N.tsv (k over n, speedup over a new QR) and prints the paper's largest speedup.
function seconds_of(kind, variant, terms,   row) {
	row = first_with("kind=" kind " variant=" variant " " terms, "seconds")
	return row ? T[row, "seconds"] + 0 : 0
}
function write_curves(n, p, m, k,   terms, place, speedup, way, w, kind, update, again) {
	terms = "operation=add_columns q=full from= precision=s executor=cuda m=" m " n=" n " p=" p
	place = k == "nan" ? 0 : k / n
	split("ours model cusolver", way, " ")
	for (w = 1; w <= 3; w++) {
		kind = way[w] == "model" ? "predicted" : "measured"
		update = seconds_of(kind, "update", terms " k=" k)
		again = seconds_of(kind, way[w] == "cusolver" ? "cusolver" : "refactor", terms)
		if (!update || !again)
			continue
		point(way[w] "_" n, "place speedup", sprintf("%.6g %.6g", place, again / update))
		points++
	}
}
BEGIN {
	read_paper("andrew2014")
	load(data "/update.tsv", T, "measured")
	load(data "/update_predictions.tsv", T, "predicted")
	terms = "kind=predicted operation=add_columns q=full from= precision=s executor=cuda variant=update"
	sizes = numbers_of(terms, "n", n)
	for (s = 1; s <= sizes; s++) {
		count = split(rows_with(terms " n=" n[s]), row, " ")
		for (i = 1; i <= count; i++) # by k; further widths around the break-even are not drawn
			if (T[row[i], "p"] == int(n[s] / 16))
				write_curves(n[s], T[row[i], "p"], T[row[i], "m"], T[row[i], "k"])
	}
	if (points)
		print paper["speedup.add_columns.max"]
}
