/* SPDX-License-Identifier: MIT */
#include "gemv_work.h"

#include <math.h>

enum { WARP = 32, SUMMED = 8 /* parts that the last block reads at once */ };

/* As compiled: loads of 64 bytes a thread fit into 64. */
static double registers_of(const struct gemv_call *call, const struct gemv_plan *p)
{
	const int64_t load = p->vector * precision_bytes(call->precision);

	if (p->unroll * (call->transposed ? p->columns : 1) * load <= 64)
		return 64;
	return call->precision == SINGLE || p->columns == 4 ? 80 : 96;
}

/* Loads of each of its columns that a thread has, in the block with the most of them. */
static double loads_of(const struct gemv_call *call, const struct gemv_plan *p)
{
	if (call->transposed)
		return ceil((double)call->m / p->vector / p->splits) / (p->lanes * WARP);
	return ceil((double)call->n / p->splits) * p->lanes / GEMV_THREADS;
}

/* Instructions of a warp for a turn of the loop over its loads, as compiled for 9.0 and taken for
 * every architecture: about as many for loads of 4 bytes as for loads of 16. */
static double turn_of(const struct gemv_call *call, const struct gemv_plan *p)
{
	const bool single = call->precision == SINGLE,
	           wide = p->vector * precision_bytes(call->precision) == 16;

	if (!call->transposed)
		return p->unroll == 4   ? (single ? 88 : 99)
		       : p->unroll == 8 ? (wide ? 180 : 154)
		                        : 259;
	if (p->columns == 4)
		return p->unroll == 1 ? 60 : single ? 182 : 214;
	if (p->columns == 1)
		return single ? 147 : 191;
	return p->unroll == 8 ? 363 : !wide ? 215 : single ? 206 : 264;
}

/* With those around the loop, of which `early` is the share of blocks that begin before the kernel
 * ahead ends. Kernels of single precision skip loads of x beyond the last row. */
static double instructions_of(const struct gemv_call *call, const struct gemv_plan *p, double early)
{
	const double loads = loads_of(call, p), turns = ceil(loads / p->unroll),
	             beyond = turns * p->unroll - loads;

	if (!call->transposed)
		return 330 - 120 * early + turns * turn_of(call, p);
	return 240 - 110 * early + turns * turn_of(call, p) -
	       (call->precision == SINGLE ? beyond * (p->unroll == 8 ? 18 : 10) : 0);
}

void gemv_tuned_work(const struct gemv_call *call, const struct tuning *tuning, bool cold,
        struct kernel_work *work)
{
	const struct gemv_plan plan = gemv_plan(call, tuning);
	const double word = (double)precision_bytes(call->precision), m = (double)call->m,
	             n = (double)call->n, bytes = m * n * word, load = plan.vector * word,
	             blocks = (double)plan.tiles * plan.splits;
	const double lines = call->transposed ? n : m, vectors = (m + 2 * n) * word;
	const double together = plan.unroll * (call->transposed ? plan.columns : 1); /* loads */
	const double places = GEMV_RESIDENT * tuning->device.sm_count,
	             first = fmin(1, places / blocks), early = plan.early ? first : 0;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = GEMV_THREADS,
	        .registers = registers_of(call, &plan),
	        .dram = {.read = bytes + vectors, .written = lines * word},
	        .working_set = cold ? 0 : bytes + vectors,
	        .in_flight = together * load,
	        .in_step = first,
	        .instructions = blocks * GEMV_THREADS / WARP * instructions_of(call, &plan, early),
	        .pattern = load < 16 ? PATTERN_WIDTH : PATTERN_CONTIGUOUS,
	        .step = load};
	work->operations[work_fma_pipe(call->precision)] = 2 * m * n;
	/* conversions of the index divisions, as compiled; sums over lanes and warps */
	work->operations[PIPE_SPECIAL] = blocks * GEMV_THREADS * (call->transposed ? 9 : 15);
	work->wavefronts =
	        blocks * GEMV_THREADS / WARP *
	        (word / 4 *
	                        (call->transposed ? 5 * (double)plan.columns
	                                          : plan.vector * (1 + log2(32.0 / plan.lanes))) +
	                8);
	work->link[LINK_DRAM] = 1 + ceil(loads_of(call, &plan) / plan.unroll);
	work->link[LINK_L2] = 1; /* the old y */
	/* the sum over a block, without its barrier: warps wait for each other only once */
	work->link[LINK_SHUFFLE] = 5;
	work->link[LINK_SHARED] = 3;
	if (plan.splits > 1) { /* partial sums, a count of the blocks, the last one's reads */
		work->l2 =
		        (struct work_bytes){blocks * plan.width * word, blocks * plan.width * word};
		work->link[LINK_COUNT_IN] = 1;
		work->link[LINK_L2] += 1 + ceil(plan.splits / (double)SUMMED);
	}
}
