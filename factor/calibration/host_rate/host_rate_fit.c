/* SPDX-License-Identifier: MIT */
/* Curve of the host_rate probe -> host.{iamax,scal,swap,ger,getrf,geqrf,potrf_rows}.{s,d} [m,n],
 * host.{potrf,gemm}.{s,d} [n], host.gemm.threads.s, host.getrf.threads.s, host.blas.level1,
 * host.blas.level2: seconds of a call; host.clock. */
#include "lib/base/base.h"
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void host_rate_fit(const struct table *curve, struct profile *profile);

#define PANEL "lda > m and no multiple of a page, panel in cache as far as it fits"
#define CALL " of an m x n panel, one thread, " PANEL
#define FACTORIZATION ", one thread below 4 MiB, all from there, " PANEL
#define ROWS                                                                                       \
	" of the rows below the triangle of an m x n panel, all threads from 16 Mflop on, " PANEL
#define SQUARE ", n x n, all threads"

/* No call takes less than a nanosecond, none minutes. */
#define TIMED(series, parameter, method, ...)                                                      \
	CURVE_SURFACE(series, "host." parameter, method, "library", 1e-9, 1000, __VA_ARGS__)
#define SHORT(series, parameter, method)                                                           \
	{                                                                                          \
		series, .spec = { "host.blas." parameter, "s", method, "library", 1e-9, 1000 }     \
	}
#define BOTH(name, before, after, ...)                                                             \
	TIMED(name "_s", name ".s", before "s" name after, __VA_ARGS__),                           \
	        TIMED(name "_d", name ".d", before "d" name after, __VA_ARGS__)

static const struct curve_rows functions[] = {
        TIMED("iamax_s", "iamax.s", "cblas_isamax of a column" CALL, "m", "n"),
        TIMED("iamax_d", "iamax.d", "cblas_idamax of a column" CALL, "m", "n"),
        BOTH("scal", "cblas_", " of a column" CALL, "m", "n"),
        BOTH("swap", "cblas_", " of two rows" CALL, "m", "n"),
        BOTH("ger", "cblas_", CALL, "m", "n"),
        BOTH("getrf", "LAPACKE_", "_work" FACTORIZATION, "m", "n"),
        BOTH("geqrf", "LAPACKE_", "_work" FACTORIZATION, "m", "n"),
        BOTH("potrf", "LAPACKE_", "_work, n x n" FACTORIZATION, "n"),
        TIMED("potrf_rows_s", "potrf_rows.s", "cblas_strsm" ROWS, "m", "n"),
        TIMED("potrf_rows_d", "potrf_rows.d", "cblas_dtrsm" ROWS, "m", "n"),
        BOTH("gemm", "cblas_", SQUARE, "n"),
        TIMED("gemm_threads_s", "gemm.threads.s", "cblas_sgemm, n x n", "n", "threads"),
        TIMED("getrf_threads_s", "getrf.threads.s", "LAPACKE_sgetrf_work, " PANEL, "m", "n",
                "threads"),
        SHORT("level1", "level1", "cblas_sscal, n = 32"),
        SHORT("level2", "level2", "cblas_sger, 32 x 32"),
};

/* Processes that a point must have: three, or as many as there are. */
static size_t least_processes(const struct table *curve)
{
	double last = -1;

	for (size_t row = 0; row < curve->row_count; row++)
		last = fmax(last, table_real(curve, row, "process"));
	return (size_t)fmin(last + 1, 3);
}

/* Those with a choice of threads may be missing, and Cholesky's rows, which earlier records lack.
 */
static bool may_be_missing(const char *series)
{
	return strstr(series, "threads") || strstr(series, "potrf_rows");
}

/* A slow machine leaves out points in some processes, and whole series. */
static void add_function(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, size_t least)
{
	struct point *points;
	const size_t n = curve_points(curve, rows->series, &points);

	for (size_t i = 0; i < n; i++)
		if (points[i].processes >= least)
			curve_fit_point(curve, profile, rows, &points[i]);
	if (n == 0 && !may_be_missing(rows->series))
		profile_add(profile, &rows->spec, NULL, 0, estimate_none, false);
	free(points);
}

void host_rate_fit(const struct table *curve, struct profile *profile)
{
	static const struct parameter_spec clock = {
	        "host.clock", "Hz", "dependent integer adds", NULL, 0.2e9, 10e9};
	const size_t least = least_processes(curve);
	const struct point add = curve_at(curve, "clock", NULL, 0);
	struct estimate hz = estimate_none, seconds = add.seconds;

	for (size_t f = 0; f < ARRAY_LEN(functions); f++)
		add_function(curve, profile, &functions[f], least);
	/* processes that differ widely may have an interval that reaches zero */
	seconds.low = fmax(seconds.low, seconds.value / 2);
	if (seconds.samples)
		hz = estimate_inverse(1, seconds);
	profile_add(profile, &clock, NULL, 0, hz, add.busy);
}
