/* SPDX-License-Identifier: MIT */
/* Curve of the panel_kernel probe -> rate surfaces of our own kernels' steps at powers of two,
 * and the rate of the update in shared memory. */
#include "lib/base/base.h"
#include "panel_kernel.h"

#include "lib/probe/curve.h"
#include "lib/profile/profile.h"

#include "factor/kernels/lu/panel_geometry.h"

#include <stdlib.h>

static const struct surface {
	const char *series, *name, *method, *arg;
} surfaces[] = {
        {"pivot_s", "gpu.panel.pivot.s", "fused pivot kernel, start to start", "m"},
        {"pivot_d", "gpu.panel.pivot.d", "fused pivot kernel, start to start", "m"},
        {"step_s", "gpu.panel.step.s", "fused pivot and update kernel in turns, start to start",
                "m"},
        {"step_d", "gpu.panel.step.d", "fused pivot and update kernel in turns, start to start",
                "m"},
        {"column_s", "gpu.panel.column.s", "a column of the resident kernel without update",
                "blocks"},
        {"column_d", "gpu.panel.column.d", "a column of the resident kernel without update",
                "blocks"},
};

/* A column when a block's warps pass twice over their rows, on all multiprocessors. */
static void fit_twice(
        const struct table *curve, struct profile *profile, const char *series, const char *name)
{
	const struct parameter_spec spec = {.name = name,
	        .unit = "s",
	        .method = "a column of the resident kernel with two passes over a block's rows, "
	                  "one block "
	                  "an SM",
	        .regime = "surface",
	        .low = 1e-7,
	        .high = 1e-2};
	struct point *points;
	size_t count = curve_points(curve, series, &points);
	for (size_t i = 0; i < count; i++) {
		struct arg n = {"n", curve_arg(curve, &points[i], "n")};
		if (curve_arg(curve, &points[i], "rows") > PANEL_FEWEST_ROWS)
			profile_add(profile, &spec, &n, 1, points[i].seconds, points[i].busy);
	}
	free(points);
}

/* Bytes of a sweep over its seconds; the shorter time is the higher rate. */
static void fit_update(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {.name = "gpu.shared.update",
	        .unit = "B/s",
	        .method = "panel update in shared memory, bytes read and written, one SM",
	        .low = 1e8,
	        .high = 1e13};
	struct point *point;
	const size_t count = curve_points(curve, "shared_update", &point);
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(curve, &point[i], "bytes");
		const struct estimate t = point[i].seconds;
		const struct estimate rate = {
		        bytes / t.value, bytes / t.high, bytes / t.low, t.samples};
		const struct arg args[] = {{"threads", curve_arg(curve, &point[i], "threads")}};
		profile_add(profile, &spec, args, 1, rate, point[i].busy);
	}
	free(point);
}

void panel_kernel_fit(const struct table *curve, struct profile *profile)
{
	for (size_t s = 0; s < ARRAY_LEN(surfaces); s++) {
		const struct parameter_spec spec = {.name = surfaces[s].name,
		        .unit = "s",
		        .method = surfaces[s].method,
		        .regime = "surface",
		        .low = 1e-7,
		        .high = 1e-2};
		struct point *points;
		size_t count = curve_points(curve, surfaces[s].series, &points);
		for (size_t i = 0; i < count; i++) {
			double rows = curve_arg(curve, &points[i], "rows");
			if (rows > PANEL_FEWEST_ROWS)
				continue;
			struct arg args[] = {
			        {surfaces[s].arg, curve_arg(curve, &points[i], surfaces[s].arg)},
			        {"n", curve_arg(curve, &points[i], "n")}};
			profile_add(profile, &spec, args, 2, points[i].seconds, points[i].busy);
		}
		free(points);
	}
	fit_twice(curve, profile, "column_s", "gpu.panel.twice.s");
	fit_twice(curve, profile, "column_d", "gpu.panel.twice.d");
	fit_update(curve, profile);
}
