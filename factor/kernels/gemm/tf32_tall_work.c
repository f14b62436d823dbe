/* SPDX-License-Identifier: MIT */
#include "tf32_tall_work.h"

#include "product_work.h"

#include <math.h>

enum {
	THREADS = 512,
	STAGE = 32, /* rows */
	START = 2,  /* maps of the copies, operands */
	QUAD = 4,
	JOINING = 256 /* threads */
};

/* A stage of the ring passes shared memory three times: low parts are made of it, and read and
 * written. Warps that multiply wait for it, and add its products to their sums. */
size_t tf32_tall_work(const struct tf32_tall_plan *plan, int64_t k, int64_t n, int64_t rows,
        struct kernel_work *work)
{
	const double blocks = (double)plan->pinned_sets * plan->groups, line = 128,
	             stages = ceil((double)rows / STAGE),
	             turns = ceil(plan->across * stages / plan->pinned_sets),
	             bytes = (double)(plan->side + plan->width) * STAGE * sizeof(float);
	struct product_tiles t = {.pipe = PIPE_GROUP_TF32,
	        .times = 3,
	        .word = sizeof(float),
	        .operand = sizeof(float),
	        .m = (double)k,
	        .n = (double)n,
	        .k = turns * STAGE,
	        .part = 1,
	        .rows = plan->side,
	        .columns = plan->width,
	        .start = START,
	        .depth = STAGE,
	        .tiles = blocks,
	        .splits = 1,
	        .threads = THREADS,
	        .resident = 1,
	        .blocks = blocks,
	        .wavefronts = 2 * bytes / line / STAGE};

	product_tiles_work(&t, &work[0]);
	work[0].operations[PIPE_FP32] =
	        2 * blocks * turns *
	        ((double)(plan->side + plan->width) * STAGE + (double)plan->side * plan->width);
	t.k = (double)rows;
	t.tiles = (double)plan->groups * plan->across;
	t.splits = plan->pinned_sets > 1 ? fmax(2, plan->pinned_sets / (double)plan->across) : 1;
	const double once = (t.m + t.n) * t.k * t.operand, c = t.m * t.n * t.word,
	             tiles = ((double)plan->across * t.m + plan->groups * t.n) * t.k * t.operand;
	work[0].dram = (struct work_bytes){once, t.splits > 1 ? 0 : c};
	work[0].l2 = (struct work_bytes){tiles - once, t.splits > 1 ? t.splits * c : 0};
	work[0].working_set = once + c;
	work[0].apart = work[0].dram.written / (once + c);
	if (plan->pinned_sets == 1)
		return 1;
	product_sum_work(&t, QUAD * JOINING, JOINING, &work[1]);
	return 2;
}
