/* SPDX-License-Identifier: MIT */
/* How our products are planned: kernels of their precision, square tiles for triangles, splits only
 * with room for their sums and with steps enough. */
#include "tap.h"

#include "../lib/gemm.h"

#include <inttypes.h>

static struct gemm_problem problem(enum precision precision, int64_t m, int64_t n, int64_t k)
{
	return (struct gemm_problem){
	        .precision = precision, .m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = m};
}

static void check_plan(struct gemm_problem p, int sms, int64_t room)
{
	enum { FEWEST_STEPS = 4 };

	const struct gemm_plan plan = gemm_plan_make(&p, sms, room);
	const struct gemm_geometry *g = &gemm_geometry[plan.shape];
	const int64_t steps = (p.k + g->depth - 1) / g->depth;

	ok((p.precision == DOUBLE) == (plan.shape >= GEMM_DOUBLE),
	        "%" PRId64 " x %" PRId64 " x %" PRId64 ": a kernel of its precision, %d x %d", p.m,
	        p.n, p.k, g->rows, g->columns);
	ok(p.part == GEMM_WHOLE || g->rows == g->columns, "a triangle has square tiles");
	ok(plan.splits == 1 ? plan.work_bytes == 0
	                    : plan.work_bytes <= room && steps / plan.splits >= FEWEST_STEPS,
	        "%d splits, %" PRId64 " bytes", plan.splits, plan.work_bytes);
}

static void check_plans(void)
{
	static const int64_t sides[] = {1, 64, 500, 4096, 20000};

	for (size_t i = 0; i < ARRAY_LEN(sides); i++)
		for (size_t j = 0; j < ARRAY_LEN(sides); j++) {
			struct gemm_problem p = problem(SINGLE, sides[i], sides[j], 131072);
			check_plan(p, 132, 0);
			check_plan(p, 132, (int64_t)16 << 20);
			check_plan(problem(DOUBLE, sides[i], sides[j], 40), 78, (int64_t)1 << 20);
			p.part = GEMM_LOWER;
			check_plan(p, 132, 0);
		}
	const struct gemm_problem small = problem(SINGLE, 64, 64, 131072);
	ok(gemm_plan_make(&small, 132, (int64_t)16 << 20).splits > 1,
	        "a small C with a long inner dimension is split over the multiprocessors");
}

int main(void)
{
	check_plans();
	return finish();
}
