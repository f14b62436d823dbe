/* SPDX-License-Identifier: MIT */
/* The probe's own streams (probes/copy): hardware curves that follow the bandwidths of DRAM and L2
 * when a what-if changes those. `bytes` counts bytes read plus bytes written. */
#include "surface_work.h"

#include <math.h>

enum { STREAM_THREADS = 256, VECTOR = 16, UNROLL = 4, MOST_THREADS = 2048 };

/* Moves vectors of 16 bytes, `unroll` of a thread at once. loops: by as many blocks as the
 * multiprocessors hold, else by a block for every 256 accesses. */
static size_t stream(const struct surface_point *p, double read, double written, double set,
        bool loops, struct kernel_work *work)
{
	const double accesses = fmax(read, written) / VECTOR, unroll = loops ? UNROLL : 1,
	             most = (double)p->tuning->device.sm_count * MOST_THREADS / STREAM_THREADS,
	             all = ceil(accesses / STREAM_THREADS), blocks = loops ? fmin(all, most) : all;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = STREAM_THREADS,
	        .registers = 32,
	        .dram = {read, written},
	        .working_set = set,
	        .in_flight = unroll * VECTOR};
	work->link[LINK_DRAM] = ceil(accesses / (blocks * STREAM_THREADS * unroll));
	return 1;
}

static size_t copies(const struct surface_point *p, struct kernel_work *work)
{
	return stream(p, p->at[0] / 2, p->at[0] / 2, p->at[0], false, work);
}

static size_t changes(const struct surface_point *p, struct kernel_work *work)
{
	return stream(p, p->at[0] / 2, p->at[0] / 2, p->at[0] / 2, false, work);
}

static size_t reads(const struct surface_point *p, struct kernel_work *work)
{
	return stream(p, p->at[0], 0, p->at[0], true, work);
}

static size_t writes(const struct surface_point *p, struct kernel_work *work)
{
	return stream(p, 0, p->at[0], p->at[0], true, work);
}

const struct surface surfaces_curves[] = {{"gpu.copy.time", {"bytes"}, copies},
        {"gpu.change.time", {"bytes"}, changes}, {"gpu.read.time", {"bytes"}, reads},
        {"gpu.write.time", {"bytes"}, writes}, {NULL, {NULL}, NULL}};
