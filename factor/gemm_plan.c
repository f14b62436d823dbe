/* SPDX-License-Identifier: MIT */
#include "gemm.h"

/* Measured on an H200 in fp32; only their ratios decide. */
const struct gemm_geometry gemm_geometry[GEMM_SHAPES] = {
        {128, 128, 16, 2, 0.82},
        {128, 64, 16, 3, 0.78},
        {64, 128, 16, 3, 0.76},
        {64, 64, 16, 4, 0.70},
        {128, 32, 16, 4, 0.60},
        {32, 128, 16, 4, 0.60},
};

enum { MOST_SPLITS = 64 };

/* In cycles of an SM that does 128 multiply-adds each: a block's start and end, the second kernel,
 * and an element of a partial C written and read again. */
static const double start_cycles = 3000, reduce_cycles = 5000, element_cycles = 0.5;

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static double cycles(
        const struct gemm_problem *p, const struct gemm_geometry *g, int64_t splits, int sm_count)
{
	const int64_t rows = divide_up(p->m, g->rows), columns = divide_up(p->n, g->columns);
	const int64_t tiles = p->part == GEMM_WHOLE ? rows * columns : rows * (rows + 1) / 2;
	const int64_t steps = divide_up(divide_up(p->k, g->depth), splits);
	const int64_t per_sm = divide_up(tiles * splits, sm_count);
	/* a block alone on its SM leaves some of the multiply-adds unused */
	const double alone = per_sm < g->resident ? 0.8 : 1;
	const double step = (double)g->rows * g->columns * g->depth / 128;
	const double one = start_cycles + (double)(per_sm * steps) * step / (g->efficiency * alone);
	if (splits == 1)
		return one;
	return one + reduce_cycles +
	       element_cycles * (double)(splits + 1) * (double)(p->m * p->n) / sm_count;
}

static int64_t work_bytes(const struct gemm_problem *p, int64_t splits)
{
	const int64_t ld = divide_up(p->m, 4) * 4;
	return splits == 1 ? 0 : splits * ld * p->n * precision_bytes(p->precision);
}

struct gemm_plan gemm_plan_make(const struct gemm_problem *problem, int sm_count, bool may_split)
{
	struct gemm_plan best = {.splits = 1};
	double least = -1;

	for (int shape = 0; shape < GEMM_SHAPES; shape++) {
		const struct gemm_geometry *g = &gemm_geometry[shape];
		if (problem->part != GEMM_WHOLE && g->rows != g->columns)
			continue;
		const int64_t steps = divide_up(problem->k, g->depth);
		for (int splits = 1; splits <= (may_split ? MOST_SPLITS : 1); splits++) {
			if (splits > 1 && steps / splits < 4)
				break;
			const double cost = cycles(problem, g, splits, sm_count);
			if (least < 0 || cost < least) {
				least = cost;
				best = (struct gemm_plan){.shape = shape,
				        .splits = splits,
				        .work_bytes = work_bytes(problem, splits)};
			}
		}
	}
	return best;
}
