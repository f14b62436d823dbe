# SPDX-License-Identifier: MIT
# Factorizations over several GPUs, from DATA/scaling.tsv (predicted) and DATA/several_gpus.tsv (measured):
#   awk -v data=DATA -v folder=WORK -f common.awk -f bench.awk -f scaling.awk
# writes folder/OPERATION_strong_N.tsv and OPERATION_weak_0.tsv (gpus, the speedup over one GPU and Tflop/s a GPU), and of
# measurements in fp32 of the same matrices OPERATION_measured_N.tsv; prints the number of series.
function take(key, i, gpus) {
	keep(key, gpus, -T[i, "seconds"])
	rate[key, gpus] = T[i, "gflops"] / gpus / 1000
}
BEGIN {
	load(data "/scaling.tsv", T)
	for (i = 1; i <= T["rows"]; i++)
		take(T[i, "operation"] "_" T[i, "scaling"] "_" (T[i, "scaling"] == "weak" ? 0 : T[i, "n"]), i, T[i, "gpus"])
	load(data "/several_gpus.tsv", T)
	for (i = 1; i <= T["rows"]; i++)
		if (T[i, "executor"] != "model" && T[i, "variant"] == "gpu" && T[i, "math"] == "fp32" && is_time(T[i, "seconds"]) && (T[i, "operation"] "_strong_" T[i, "n"]) in x_of)
			take(T[i, "operation"] "_measured_" T[i, "n"], i, option(T[i, "options"], "gpus"))
	for (key in x_of) {
		count = ascending(x_of[key], gpus)
		if (count < 2)
			continue
		begin_series(key, "gpus speedup rate")
		for (j = 1; j <= count; j++)
			point(key, "", sprintf("%d %.6g %.6g", gpus[j], kept[key, gpus[1]] / kept[key, gpus[j]], rate[key, gpus[j]]))
	}
	if (series)
		print series
}
