/* SPDX-License-Identifier: MIT */
/* Curve of the barrier probe -> parameters: every point of every rung is a row of a function. */
#include "lib/base/base.h"
#include "barrier.h"

#include "lib/probe/curve.h"
#include "lib/profile/profile.h"

#include <stdlib.h>

/* Bounds: nothing is quicker than a cycle at 4 GHz, whatever crosses a block is slower than a few
 * cycles, whatever crosses SMs than a fraction of a trip through the chip; and none of it takes
 * milliseconds. */
static const struct ladder_series {
	const char *series, *parameter, *method;
	const char *arg[2];
	size_t arg_count;
	double low;
} ladder[] = {
        {"warp", "gpu.barrier.warp", "__syncwarp, two repeat counts", {NULL}, 0, 0.25e-9},
        {"block", "gpu.barrier.block", "__syncthreads, two repeat counts", {"threads"}, 1, 1e-9},
        {"cluster", "gpu.barrier.cluster", "cluster barrier, two repeat counts", {"blocks"}, 1,
                10e-9},
        {"master", "gpu.barrier.master", "master/slave barrier, two repeat counts",
                {"blocks", "threads"}, 2, 1e-9},
        {"counter", "gpu.barrier.counter", "counter barrier, two repeat counts",
                {"blocks", "threads"}, 2, 1e-9},
        {"grid", "gpu.barrier.grid", "grid.sync(), two repeat counts", {"blocks", "threads"}, 2,
                1e-9},
        {"reduce_max", "gpu.reduce.max", "block max with index, two repeat counts", {"threads"}, 1,
                5e-9},
        {"reduce_sum", "gpu.reduce.sum", "block sum, two repeat counts", {"threads"}, 1, 5e-9},
        {"exchange_cluster", "gpu.exchange.cluster", "128 bytes through DSMEM and mbarrier",
                {"blocks"}, 1, 10e-9},
        {"exchange_grid", "gpu.exchange.grid", "tagged records through L2", {"blocks", "words"}, 2,
                50e-9},
        {"flag", "gpu.flag.sm_to_sm", "half a round trip between two SMs", {NULL}, 0, 50e-9},
};

void barrier_fit(const struct table *curve, struct profile *profile)
{
	for (size_t s = 0; s < ARRAY_LEN(ladder); ++s) {
		const struct ladder_series *series = &ladder[s];
		const struct parameter_spec spec = {.name = series->parameter,
		        .unit = "s",
		        .method = series->method,
		        .low = series->low,
		        .high = 1e-3};
		struct point *point;
		const size_t count = curve_points(curve, series->series, &point);
		for (size_t i = 0; i < count; ++i) {
			struct arg args[2];
			for (size_t a = 0; a < series->arg_count; ++a)
				args[a] = (struct arg){series->arg[a],
				        curve_arg(curve, &point[i], series->arg[a])};
			profile_add(profile, &spec, args, series->arg_count, point[i].seconds,
			        point[i].busy);
		}
		free(point);
	}
}
