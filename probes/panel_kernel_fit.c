/* SPDX-License-Identifier: MIT */
/* Curve of the panel_kernel probe -> rate surfaces of our own kernels' steps at powers of two. */
#include "../lib/base.h"
#include "panel_kernel.h"

#include "../lib/curve.h"
#include "../lib/profile.h"

#include "../lib/panel_geometry.h"

#include <math.h>
#include <stdlib.h>

static const struct surface {
	const char *series, *name, *method, *arg;
} surfaces[] = {
        {"pivot_s", "gpu.panel.pivot.s", "fused pivot kernel, start to start", "m"},
        {"pivot_d", "gpu.panel.pivot.d", "fused pivot kernel, start to start", "m"},
        {"update_s", "gpu.panel.update.s", "fused update kernel, start to start", "m"},
        {"update_d", "gpu.panel.update.d", "fused update kernel, start to start", "m"},
        {"column_s", "gpu.panel.column.s", "a column of the resident kernel without update",
                "blocks"},
        {"column_d", "gpu.panel.column.d", "a column of the resident kernel without update",
                "blocks"},
};

/* What a block's warps need for each further pass over their rows: a column with two passes less
 * one with one. */
static void fit_pass(
        const struct table *curve, struct profile *profile, const char *series, const char *name)
{
	const struct parameter_spec spec = {.name = name,
	        .unit = "s",
	        .method = "a column with two passes over the block's rows less one with one",
	        .regime = "surface",
	        .high = 1e-3,
	        .low = 1e-9};
	struct point *points;
	size_t count = curve_points(curve, series, &points);
	for (size_t i = 0; i < count; i++) {
		struct arg args[] = {{"blocks", curve_arg(curve, &points[i], "blocks")},
		        {"n", curve_arg(curve, &points[i], "n")}, {"rows", PANEL_FEWEST_ROWS}};
		if (!(curve_arg(curve, &points[i], "rows") > PANEL_FEWEST_ROWS))
			continue;
		struct estimate two = points[i].seconds,
		                one = curve_at(curve, series, args, 3).seconds;
		double value = two.value - one.value;
		double half = hypot(two.high - two.low, one.high - one.low) / 2;
		profile_add(profile, &spec, &args[1], 1,
		        (struct estimate){value, value - half, value + half, two.samples},
		        points[i].busy);
	}
	free(points);
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
	fit_pass(curve, profile, "column_s", "gpu.panel.pass.s");
	fit_pass(curve, profile, "column_d", "gpu.panel.pass.d");
}
