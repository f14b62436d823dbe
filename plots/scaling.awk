# SPDX-License-Identifier: MIT
# Factorizations over several GPUs, from DATA/scaling.tsv (predicted) and DATA/several_gpus.tsv (measured):
#   awk -v data=DATA -v folder=WORK -f common.awk -f bench.awk -f scaling.awk
# writes folder/OPERATION_strong_N.tsv and OPERATION_weak_N.tsv (gpus, the speedup over one GPU and Tflop/s a GPU; N on one GPU), and
# of measurements in fp32 OPERATION_measured_N.tsv; prints the number of series. Predictions that come with measurements are
# strong, too. Sizes without a measurement are left out under half of the largest one.
function take(operation, kind, n, i, gpus,   key) {
	key = operation "_" kind "_" n
	keep(key, gpus, -T[i, "seconds"])
	rate[key, gpus] = T[i, "gflops"] / gpus / 1000
	size[key] = n + 0
	largest = n > largest ? n + 0 : largest
	if (kind == "measured")
		measured[n + 0] = 1
}
BEGIN {
	load(data "/scaling.tsv", T)
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "scaling"] == "strong")
			predicted[T[i, "operation"], T[i, "n"]] = 1
		else if (T[i, "gpus"] == 1)
			begin[T[i, "operation"]] = T[i, "n"]
	for (i = 1; i <= T["rows"]; i++)
		take(T[i, "operation"], T[i, "scaling"], T[i, "scaling"] == "weak" ? begin[T[i, "operation"]] : T[i, "n"], i, T[i, "gpus"])
	load(data "/several_gpus.tsv", T)
	for (i = 1; i <= T["rows"]; i++) {
		kind = T[i, "executor"] == "model" ? "strong" : "measured"
		if (T[i, "variant"] == "gpu" && T[i, "math"] == "fp32" && is_time(T[i, "seconds"]) && !(kind == "strong" && (T[i, "operation"], T[i, "n"]) in predicted))
			take(T[i, "operation"], kind, T[i, "n"], i, option(T[i, "options"], "gpus"))
	}
	for (key in x_of) {
		count = ascending(x_of[key], gpus)
		if (count < 2 || gpus[1] != 1 || (size[key] < largest / 2 && !(size[key] in measured && key !~ /_weak_/)))
			continue
		begin_series(key, "gpus speedup rate")
		for (j = 1; j <= count; j++)
			point(key, "", sprintf("%d %.6g %.6g", gpus[j], kept[key, gpus[1]] / kept[key, gpus[j]], rate[key, gpus[j]]))
	}
	if (series)
		print series
}
