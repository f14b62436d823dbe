/* SPDX-License-Identifier: MIT */
/* Curve of the barrier probe -> gpu.barrier.*, gpu.reduce.*, gpu.exchange.*, gpu.flag.sm_to_sm. */
#include "lib/probe/curve_fit.h"

#define SECONDS(name, method, low)                                                                 \
	{                                                                                          \
		name, "s", method, NULL, low, 1e-3                                                 \
	}

/* Lower bounds: a few cycles within a block, a part of a trip through the chip between SMs. */
static const struct curve_rows rows[] = {
        {"block", SECONDS("gpu.barrier.block", "__syncthreads, two repeat counts", 1e-9),
                .column = {"threads"}},
        {"cluster", SECONDS("gpu.barrier.cluster", "cluster barrier, two repeat counts", 10e-9),
                .column = {"blocks"}},
        {"master", SECONDS("gpu.barrier.master", "master/slave barrier, two repeat counts", 1e-9),
                .column = {"blocks", "threads"}},
        {"counter", SECONDS("gpu.barrier.counter", "counter barrier, two repeat counts", 1e-9),
                .column = {"blocks", "threads"}},
        {"grid", SECONDS("gpu.barrier.grid", "grid.sync(), two repeat counts", 1e-9),
                .column = {"blocks", "threads"}},
        {"reduce_max", SECONDS("gpu.reduce.max", "block max with index, two repeat counts", 5e-9),
                .column = {"threads"}},
        {"reduce_sum", SECONDS("gpu.reduce.sum", "block sum, two repeat counts", 5e-9),
                .column = {"threads"}},
        {"exchange_cluster",
                SECONDS("gpu.exchange.cluster", "128 bytes through DSMEM and mbarrier", 10e-9),
                .column = {"blocks"}},
        {"exchange_grid", SECONDS("gpu.exchange.grid", "tagged records through L2", 50e-9),
                .column = {"blocks", "words"}},
        {"flag", .spec = SECONDS("gpu.flag.sm_to_sm", "half a round trip between two SMs", 50e-9)},
};

void barrier_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), false);
}
