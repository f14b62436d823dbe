/* SPDX-License-Identifier: MIT */
#include "gemv_work.h"

#include <math.h>

/* As compiled: loads of 64 bytes a thread fit into 64. */
static double registers_of(const struct gemv_call *call, const struct gemv_plan *p)
{
	const int64_t load = p->vector * precision_bytes(call->precision);

	if (p->unroll * (call->transposed ? p->columns : 1) * load <= 64)
		return 64;
	return call->precision == SINGLE || p->columns == 4 ? 80 : 96;
}

void gemv_tuned_work(const struct gemv_call *call, const struct tuning *tuning, bool cold,
        struct kernel_work *work)
{
	const struct gemv_plan plan = gemv_plan(call, tuning);
	const double word = (double)precision_bytes(call->precision), m = (double)call->m,
	             n = (double)call->n, bytes = m * n * word, load = plan.vector * word,
	             blocks = (double)plan.tiles * plan.splits;
	const double lines = call->transposed ? n : m, vectors = (m + 2 * n) * word;
	const double together = plan.unroll * (call->transposed ? plan.columns : 1), /* loads */
	        loads = bytes / (blocks * GEMV_THREADS * load);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = GEMV_THREADS,
	        .registers = registers_of(call, &plan),
	        .dram = {.read = bytes + vectors, .written = lines * word},
	        .working_set = cold ? 0 : bytes + vectors,
	        .in_flight = together * load,
	        .pattern = load < 16 ? PATTERN_WIDTH : PATTERN_CONTIGUOUS,
	        .step = load};
	work->operations[work_fma_pipe(call->precision)] = 2 * m * n;
	/* conversions of the index divisions, as compiled; sums over lanes and warps */
	work->operations[PIPE_SPECIAL] = blocks * GEMV_THREADS * (call->transposed ? 9 : 15);
	work->wavefronts =
	        blocks * GEMV_THREADS / 32 *
	        (word / 4 *
	                        (call->transposed ? 5 * (double)plan.columns
	                                          : plan.vector * (1 + log2(32.0 / plan.lanes))) +
	                8);
	work->link[LINK_DRAM] = 1 + ceil(loads / together);
	work->link[LINK_L2] = 1; /* the old y */
	/* the sum over a block, without its barrier: warps wait for each other only once */
	work->link[LINK_SHUFFLE] = 5;
	work->link[LINK_SHARED] = 3;
	if (plan.splits > 1) { /* partial sums, a counter, the last block's reads */
		work->l2 =
		        (struct work_bytes){blocks * plan.width * word, blocks * plan.width * word};
		work->link[LINK_ATOMIC] = 1;
		work->link[LINK_L2] += 2;
	}
}
