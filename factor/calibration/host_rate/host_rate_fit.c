/* SPDX-License-Identifier: MIT */
/* Fit of the host_rate probe. */
#include "lib/base/base.h"
#include "lib/probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void host_rate_fit(const struct table *curve, struct profile *profile);

#define PANEL "lda > m and no multiple of a page, panel in cache as far as it fits"
#define CALL " of an m x n panel, one thread, " PANEL
#define FACTORIZATION ", one thread below 4 MiB, all from there, " PANEL
#define SQUARE ", n x n, all threads"

static const struct {
	const char *series, *parameter, *method, *regime;
	const char *arg[3];
} functions[] = {
        {"iamax_s", "host.iamax.s", "cblas_isamax of a column" CALL, "surface", {"m", "n"}},
        {"iamax_d", "host.iamax.d", "cblas_idamax of a column" CALL, "surface", {"m", "n"}},
        {"scal_s", "host.scal.s", "cblas_sscal of a column" CALL, "surface", {"m", "n"}},
        {"scal_d", "host.scal.d", "cblas_dscal of a column" CALL, "surface", {"m", "n"}},
        {"swap_s", "host.swap.s", "cblas_sswap of two rows" CALL, "surface", {"m", "n"}},
        {"swap_d", "host.swap.d", "cblas_dswap of two rows" CALL, "surface", {"m", "n"}},
        {"ger_s", "host.ger.s", "cblas_sger" CALL, "surface", {"m", "n"}},
        {"ger_d", "host.ger.d", "cblas_dger" CALL, "surface", {"m", "n"}},
        {"getrf_s", "host.getrf.s", "LAPACKE_sgetrf_work" FACTORIZATION, "surface", {"m", "n"}},
        {"getrf_d", "host.getrf.d", "LAPACKE_dgetrf_work" FACTORIZATION, "surface", {"m", "n"}},
        {"geqrf_s", "host.geqrf.s", "LAPACKE_sgeqrf_work" FACTORIZATION, "surface", {"m", "n"}},
        {"geqrf_d", "host.geqrf.d", "LAPACKE_dgeqrf_work" FACTORIZATION, "surface", {"m", "n"}},
        {"potrf_s", "host.potrf.s", "LAPACKE_spotrf_work, n x n" FACTORIZATION, "surface", {"n"}},
        {"potrf_d", "host.potrf.d", "LAPACKE_dpotrf_work, n x n" FACTORIZATION, "surface", {"n"}},
        {"gemm_s", "host.gemm.s", "cblas_sgemm" SQUARE, "surface", {"n"}},
        {"gemm_d", "host.gemm.d", "cblas_dgemm" SQUARE, "surface", {"n"}},
        {"gemm_threads_s", "host.gemm.threads.s", "cblas_sgemm, n x n", "surface",
                {"n", "threads"}},
        {"getrf_threads_s", "host.getrf.threads.s", "LAPACKE_sgetrf_work, " PANEL, "surface",
                {"m", "n", "threads"}},
        {"level1", "host.blas.level1", "cblas_sscal, n = 32", "hardware", {0}},
        {"level2", "host.blas.level2", "cblas_sger, 32 x 32", "hardware", {0}},
};

static const struct estimate absent = {NAN, NAN, NAN, 0};

/* Processes that a point must have: three, or as many as there are. */
static size_t least_processes(const struct table *curve)
{
	double last = -1;

	for (size_t row = 0; row < curve->row_count; row++)
		last = fmax(last, table_real(curve, row, "process"));
	return (size_t)fmin(last + 1, 3);
}

static void add_function(const struct table *curve, struct profile *profile, size_t f)
{
	/* Below: less than a call; above: no such call takes minutes. */
	const struct parameter_spec spec = {
	        functions[f].parameter, "s", functions[f].method, functions[f].regime, 1e-9, 1000};
	const size_t least = least_processes(curve);
	struct point *points;
	size_t n = curve_points(curve, functions[f].series, &points);

	for (size_t i = 0; i < n; i++) {
		struct arg args[3];
		size_t count = 0;
		if (points[i].processes < least) /* dropped in the others */
			continue;
		for (; count < ARRAY_LEN(args) && functions[f].arg[count]; count++)
			args[count] = (struct arg){functions[f].arg[count],
			        curve_arg(curve, &points[i], functions[f].arg[count])};
		profile_add(profile, &spec, args, count, points[i].seconds, points[i].busy);
	}
	if (n == 0 && !strstr(functions[f].series, "threads")) /* dropped on a slow machine */
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
	if (add.seconds.samples) {
		/* processes that differ widely may have an interval that reaches zero */
		const double least = fmax(add.seconds.low, add.seconds.value / 2);
		hz = (struct estimate){1 / add.seconds.value, 1 / add.seconds.high, 1 / least,
		        add.seconds.samples};
	}
	profile_add(profile, &clock, NULL, 0, hz, add.busy);
}
