# SPDX-License-Identifier: MIT
# Errors of predictions as series for errors.gp, from DATA/errors.tsv: awk -v data=DATA -v folder=WORK -f common.awk -f error_curves.awk
# Writes REGIME.tsv (seconds, error in %), far.tsv (the largest errors, with their case), share_REGIME.tsv (error, % of cases within it).
# Prints the number of cases.
BEGIN {
	load(data "/errors.tsv", T)
	count = split(rows_with("level=2 phase="), list, " ")
	for (k = 1; k <= count; k++) {
		i = list[k]
		if (!judges(T[i, "verdict"]) || !is_time(T[i, "measured"]))
			continue
		regime = T[i, "regime"]
		error = 100 * T[i, "error"]
		point(regime, "seconds error", sprintf("%.6g %.4g", T[i, "measured"], error))
		cases[regime]++
		errors[regime] = errors[regime] " " sprintf("%.4g", magnitude(error))
		if (magnitude(error) > 10) {
			begin_series("far", "seconds error case")
			printf "%.6g\t%.4g\t%s/%s/%s %d x %d: %+.1f %%\n", T[i, "measured"], error, T[i, "operation"], T[i, "variant"], \
				T[i, "precision"], T[i, "m"], T[i, "n"], error >(folder "/far.tsv")
		}
		all++
	}
	for (regime in errors) {
		n = ascending(errors[regime], sorted)
		for (j = 1; j <= n; j++)
			if (j == n || j % int(n / 60 + 1) == 0)
				point("share_" regime, "error share", sprintf("%.4g %.4g", sorted[j], 100 * j / n))
	}
	if (all)
		print all
}
