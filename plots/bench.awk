# SPDX-License-Identifier: MIT
# Rows of bench.tsv, in T, for the awk programs after this one.
function is_whole_operation(operation) {
	return operation == "getrf" || operation == "geqrf" || operation == "potrf"
}
function is_power(n) { return n == 1 || (n > 1 && is_power(n / 2)) }
function title_of(operation) { return operation == "getrf" ? "LU" : operation == "geqrf" ? "QR" : "Cholesky" }
# LAPACK Working Note 41, n x n
function flops(operation, n) {
	return operation == "getrf" ? 2 * cube(n) / 3 - n * n / 2 + 5 * n / 6 : \
		operation == "geqrf" ? 4 * cube(n) / 3 + 2 * n * n + 14 * n / 3 : cube(n) / 3 + n * n / 2 + n / 6
}
# A square matrix in device memory, factorized with all optimizations.
function is_square_whole(i, precision) {
	return is_whole_operation(T[i, "operation"]) && T[i, "precision"] == precision && T[i, "m"] == T[i, "n"] && \
		option(T[i, "options"], "from") option(T[i, "options"], "without") == ""
}
# "LU, single, 3xtf32"
function name_of(operation, precision, math) {
	return title_of(operation) (precision == "s" ? ", single" : ", double") (math ~ /^fp/ ? "" : ", " math)
}
# "OPERATION-VARIANT-NAME" of a row without one optimization, "" of other rows. Sets `slower`, its time over that of the same
# plan with the optimization; without a sequence of widths the plan is another one.
function slowdown_series(i, precision,   name, j, options) {
	name = option(T[i, "options"], "without")
	if (name == "" || !is_whole_operation(T[i, "operation"]) || T[i, "precision"] != precision || !(T[i, "seconds"] > 0))
		return ""
	options = T[i, "options"]
	sub(",without=" name, "", options)
	j = first_with("operation=" T[i, "operation"] " math=" T[i, "math"] " variant=" T[i, "variant"] " precision=" precision " m=" T[i, "m"] \
		" n=" T[i, "n"] (name == "widths" ? "" : " nb=" T[i, "nb"]) " options=" options, "seconds")
	slower = j ? T[i, "seconds"] / T[j, "seconds"] : 0
	return j ? T[i, "operation"] "-" T[i, "variant"] "-" name : ""
}

# ---- breakdown.tsv and breakdown_measured.tsv, single precision ----

function part_of(phase) { return phase ~ /^(update|solve|swap|panel|transfer)$/ ? phase : "rest" }
# Seconds by kind, operation, variant and n: of each part, of the whole, and of a run without records.
function sum_breakdown(B, kind,   i, key, phase) {
	for (i = 1; i <= B["rows"]; i++) {
		if (B[i, "precision"] != "s")
			continue
		key = kind SUBSEP B[i, "operation"] SUBSEP B[i, "variant"] SUBSEP B[i, "n"]
		phase = B[i, "phase"]
		if (phase == "all")
			whole_of[key] = B[i, "critical_s"]
		else if (phase == "plain")
			plain_of[key] = B[i, "critical_s"]
		else
			critical_to[key, part_of(phase)] += B[i, "critical_s"]
	}
}
