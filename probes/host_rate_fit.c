/* SPDX-License-Identifier: MIT */
/* Fit of the host_rate probe. */
#include "../lib/base.h"
#include "../lib/probe.h"

#include <math.h>
#include <stdlib.h>

void host_rate_fit(const struct table *curve, struct profile *profile);

static const struct {
	const char *series, *parameter, *method, *regime;
	const char *arg[2];
} functions[] = {
        {"getrf_s", "host.getrf.s", "LAPACKE_sgetrf, all BLAS threads", "surface", {"m", "n"}},
        {"getrf_d", "host.getrf.d", "LAPACKE_dgetrf, all BLAS threads", "surface", {"m", "n"}},
        {"geqrf_s", "host.geqrf.s", "LAPACKE_sgeqrf, all BLAS threads", "surface", {"m", "n"}},
        {"geqrf_d", "host.geqrf.d", "LAPACKE_dgeqrf, all BLAS threads", "surface", {"m", "n"}},
        {"gemm_s", "host.gemm.s", "cblas_sgemm, square, all BLAS threads", "surface", {"n"}},
        {"gemm_d", "host.gemm.d", "cblas_dgemm, square, all BLAS threads", "surface", {"n"}},
        {"level1", "host.blas.level1", "cblas_sscal, n = 32", "hardware", {0}},
        {"level2", "host.blas.level2", "cblas_sger, 32 x 32", "hardware", {0}},
};

static const struct estimate absent = {NAN, NAN, NAN, 0};

static void add_function(const struct table *curve, struct profile *profile, size_t f)
{
	/* Below: less than a call; above: no such panel takes minutes. */
	const struct parameter_spec spec = {
	        functions[f].parameter, "s", functions[f].method, functions[f].regime, 1e-9, 1000};
	struct point *points;
	size_t n = curve_points(curve, functions[f].series, &points);

	for (size_t i = 0; i < n; i++) {
		struct arg args[2];
		size_t count = 0;
		for (; count < 2 && functions[f].arg[count]; count++)
			args[count] = (struct arg){functions[f].arg[count],
			        curve_arg(curve, &points[i], functions[f].arg[count])};
		profile_add(profile, &spec, args, count, points[i].seconds, points[i].busy);
	}
	if (n == 0)
		profile_add(profile, &spec, NULL, 0, absent, false);
	free(points);
}

void host_rate_fit(const struct table *curve, struct profile *profile)
{
	static const struct parameter_spec clock = {
	        "host.clock", "Hz", "dependent integer adds", NULL, 0.2e9, 10e9};
	struct point add = curve_at(curve, "clock", NULL, 0);
	struct estimate hz = absent;

	for (size_t f = 0; f < ARRAY_LEN(functions); f++)
		add_function(curve, profile, f);
	if (add.seconds.samples && add.seconds.low > 0)
		hz = (struct estimate){1 / add.seconds.value, 1 / add.seconds.high,
		        1 / add.seconds.low, add.seconds.samples};
	profile_add(profile, &clock, NULL, 0, hz, add.busy);
}
