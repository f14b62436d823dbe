/* SPDX-License-Identifier: MIT */
/* Curve of the gemv_rate probe -> gpu.gemv.s.n .s.t .d.n .d.t, the same of gpu.own_gemv, and
 * gpu.ger.s .d [m,n,cold]: seconds per call, rate surfaces. A matrix that was measured only cold is
 * too large for L2. Its time holds for the warm state too, which makes the grid complete. */
#include "lib/base/base.h"
#include "gemv_rate.h"

#include "lib/probe/curve_fit.h"

#include <math.h>
#include <stdlib.h>

/* Bytes a cycle from L2 to a multiprocessor, twice the most of any architecture. The probe takes no
 * call of 100 s. */
static const double bytes_a_cycle = 128;

#define SURFACE(series, name, method, regime)                                                      \
	CURVE_SURFACE(series, name, method ", start to start", regime, 0, 100, "m", "n", "cold")
#define LIBRARY(series, name, method) SURFACE(series, name, "cuBLAS " method, "library")
#define OWN(series, name, method) SURFACE(series, name, "our " method, "calibrated")

static const struct {
	struct curve_rows rows;
	int bytes; /* of an element, over all passes over the matrix */
} surfaces[] = {
        {LIBRARY("gemv_n_s", "gpu.gemv.s.n", "gemv"), 4},
        {LIBRARY("gemv_t_s", "gpu.gemv.s.t", "gemv, transposed"), 4},
        {LIBRARY("ger_s", "gpu.ger.s", "ger"), 8},
        {LIBRARY("gemv_n_d", "gpu.gemv.d.n", "gemv"), 8},
        {LIBRARY("gemv_t_d", "gpu.gemv.d.t", "gemv, transposed"), 8},
        {LIBRARY("ger_d", "gpu.ger.d", "ger"), 16},
        {OWN("own_gemv_n_s", "gpu.own_gemv.s.n", "gemv"), 4},
        {OWN("own_gemv_t_s", "gpu.own_gemv.s.t", "gemv, transposed"), 4},
        {OWN("own_gemv_n_d", "gpu.own_gemv.d.n", "gemv"), 8},
        {OWN("own_gemv_t_d", "gpu.own_gemv.d.t", "gemv, transposed"), 8},
};

static void add_point(const struct table *curve, struct profile *profile, struct curve_rows rows,
        const struct point *point, double least)
{
	const double m = curve_arg(curve, point, "m"), n = curve_arg(curve, point, "n");
	const struct arg warm[] = {{"m", m}, {"n", n}, {"cold", 0}};

	rows.spec.low = fmax(CURVE_SOONEST_KERNEL, m * n * least);
	curve_fit_point(curve, profile, &rows, point);
	if (curve_at(curve, rows.series, warm, ARRAY_LEN(warm)).row == SIZE_MAX)
		profile_add(
		        profile, &rows.spec, warm, ARRAY_LEN(warm), point->seconds, point->busy);
}

void gemv_rate_fit(const struct table *curve, struct profile *profile)
{
	const double fastest = curve_most(curve, bytes_a_cycle);

	for (size_t i = 0; i < ARRAY_LEN(surfaces); i++) {
		struct point *point;
		const size_t count = curve_points(curve, surfaces[i].rows.series, &point);
		for (size_t p = 0; p < count; p++)
			add_point(curve, profile, surfaces[i].rows, &point[p],
			        surfaces[i].bytes / fastest);
		free(point);
	}
}
