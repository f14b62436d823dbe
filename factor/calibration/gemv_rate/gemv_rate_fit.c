/* SPDX-License-Identifier: MIT */
/* Curve of the gemv_rate probe -> gpu.gemv.s.n .s.t .d.n .d.t, the same of gpu.own_gemv, and
 * gpu.ger.s .d [m,n,cold]: seconds per call, rate surfaces. A matrix that was measured cold only is
 * too large for L2: its time holds for the warm state too, so that the grid is complete. */
#include "lib/base/base.h"
#include "gemv_rate.h"

#include "lib/probe/curve.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdlib.h>

/* No L2 delivers 30 TB/s, no call starts within 300 ns of the one before, none takes this long. */
static const double fastest = 3e13, shortest = 300e-9, longest = 100;

static const struct surface {
	const char *series, *name, *method;
	int word, passes; /* bytes of an element; passes over the matrix */
} surfaces[] = {
        {"gemv_n_s", "gpu.gemv.s.n", "cuBLAS gemv, start to start", 4, 1},
        {"gemv_t_s", "gpu.gemv.s.t", "cuBLAS gemv, transposed, start to start", 4, 1},
        {"ger_s", "gpu.ger.s", "cuBLAS ger, start to start", 4, 2},
        {"gemv_n_d", "gpu.gemv.d.n", "cuBLAS gemv, start to start", 8, 1},
        {"gemv_t_d", "gpu.gemv.d.t", "cuBLAS gemv, transposed, start to start", 8, 1},
        {"ger_d", "gpu.ger.d", "cuBLAS ger, start to start", 8, 2},
        {"own_gemv_n_s", "gpu.own_gemv.s.n", "our gemv, start to start", 4, 1},
        {"own_gemv_t_s", "gpu.own_gemv.s.t", "our gemv, transposed, start to start", 4, 1},
        {"own_gemv_n_d", "gpu.own_gemv.d.n", "our gemv, start to start", 8, 1},
        {"own_gemv_t_d", "gpu.own_gemv.d.t", "our gemv, transposed, start to start", 8, 1},
};

static bool taken_warm(
        const struct table *curve, const char *series, const struct arg *m, const struct arg *n)
{
	const struct arg args[] = {*m, *n, {"cold", 0}};
	return curve_at(curve, series, args, ARRAY_LEN(args)).row != SIZE_MAX;
}

static void add_point(const struct table *curve, struct profile *profile, const struct point *point,
        const struct surface *s)
{
	struct arg args[] = {{"m", curve_arg(curve, point, "m")},
	        {"n", curve_arg(curve, point, "n")}, {"cold", curve_arg(curve, point, "cold")}};
	const double bytes = args[0].value * args[1].value * s->word * s->passes;
	const struct parameter_spec spec = {.name = s->name,
	        .unit = "s",
	        .method = s->method,
	        .regime = "surface",
	        .low = fmax(shortest, bytes / fastest),
	        .high = longest};
	profile_add(profile, &spec, args, ARRAY_LEN(args), point->seconds, point->busy);
	if (args[2].value == 0 || taken_warm(curve, s->series, &args[0], &args[1]))
		return;
	args[2].value = 0;
	profile_add(profile, &spec, args, ARRAY_LEN(args), point->seconds, point->busy);
}

void gemv_rate_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(surfaces); i++) {
		struct point *point;
		const size_t count = curve_points(curve, surfaces[i].series, &point);
		for (size_t p = 0; p < count; p++)
			add_point(curve, profile, &point[p], &surfaces[i]);
		free(point);
	}
}
