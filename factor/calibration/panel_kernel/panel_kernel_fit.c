/* SPDX-License-Identifier: MIT */
/* Curve of the panel_kernel probe -> gpu.panel.{pivot,step}.{s,d} [m,n], gpu.panel.column.{s,d}
 * [blocks,n], gpu.panel.twice.{s,d} [n]: seconds of a kernel, of both kernels (step) or of a
 * column, rate surfaces; gpu.shared.update [threads]: bytes per second. */
#include "lib/base/base.h"
#include "panel_kernel.h"

#include "lib/probe/curve_fit.h"

#include "factor/kernels/lu/panel_geometry.h"

#include <stdlib.h>

#define SURFACE(series, name, method, ...)                                                         \
	CURVE_SURFACE(series, name, method, "calibrated", CURVE_SOONEST_KERNEL, 1, __VA_ARGS__)
#define BOTH(series, name, ...)                                                                    \
	SURFACE(series "_s", name ".s", __VA_ARGS__), SURFACE(series "_d", name ".d", __VA_ARGS__)
#define COLUMN "a column of the resident kernel "

static const struct curve_rows surfaces[] = {
        BOTH("pivot", "gpu.panel.pivot", "fused pivot kernel, start to start", "m", "n"),
        BOTH("step", "gpu.panel.step",
                "fused pivot and update kernel in turns, from pivot to pivot", "m", "n"),
        BOTH("column", "gpu.panel.column", COLUMN "without update", "blocks", "n"),
};
/* A block's warps pass twice over their rows, on all multiprocessors. */
static const struct curve_rows twice[] = {BOTH("column", "gpu.panel.twice",
        COLUMN "with two passes over a block's rows, one block an SM", "n")};
static const struct curve_rows update = {"shared_update",
        {"gpu.shared.update", "B/s",
                "panel update in shared memory, bytes read and written, one SM", NULL, 1e8, 1e13},
        .column = {"threads"}, .value = curve_rate};

/* The points of a series whose blocks need two passes over their rows, or the others. */
static void fit_passes(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, bool two_passes)
{
	struct point *points;
	const size_t count = curve_points(curve, rows->series, &points);

	for (size_t i = 0; i < count; i++)
		if ((curve_arg(curve, &points[i], "rows") > PANEL_FEWEST_ROWS) == two_passes)
			curve_fit_point(curve, profile, rows, &points[i]);
	free(points);
}

void panel_kernel_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(surfaces); i++)
		fit_passes(curve, profile, &surfaces[i], false);
	for (size_t i = 0; i < ARRAY_LEN(twice); i++)
		fit_passes(curve, profile, &twice[i], true);
	curve_fit_rows(curve, profile, &update, 1, false);
}
