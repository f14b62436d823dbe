/* SPDX-License-Identifier: MIT */
/* How V^T C is divided: tiles cover the product, all blocks run at once, there is room for their
 * partial sums, and each block has enough rows. */
#include "tests/tap.h"

#include "factor/kernels/gemm/tf32_tall.h"

#include <inttypes.h>

static const struct {
	int64_t k, n, rows;
	int multiprocessors;
} cases[] = {{1, 1, 1, 132}, {64, 256, 32, 132}, {64, 4096, 4096, 132}, {128, 7808, 8064, 116},
        {512, 32768, 32768, 132}, {100, 300, 100000, 7}, {128, 128, 131072, 132},
        {256, 16384, 16384, 1000}};

int main(void)
{
	enum { STAGE = 32, FEWEST = 2, KEPT = 2 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const int64_t k = cases[i].k, n = cases[i].n, rows = cases[i].rows;
		const struct tf32_tall_plan plan =
		        tf32_tall_plan_make(k, n, rows, cases[i].multiprocessors);
		const int64_t blocks = (int64_t)plan.pinned_sets * plan.groups;
		const int64_t stages = plan.across * ((rows + STAGE - 1) / STAGE);
		const int64_t kept = KEPT * blocks * plan.side * plan.width * 4;

		ok(plan.groups * plan.side >= k && (plan.groups - 1) * plan.side < k &&
		                plan.across * plan.width >= n && (plan.across - 1) * plan.width < n,
		        "%" PRId64 " x %" PRId64 ": %d x %d tiles", k, n, plan.groups, plan.across);
		ok(plan.pinned_sets == 1 || blocks <= cases[i].multiprocessors,
		        "%d teams on %d multiprocessors", plan.pinned_sets,
		        cases[i].multiprocessors);
		ok(plan.pinned_sets == 1 || kept <= TF32_TALL_SCRATCH, "%" PRId64 " bytes kept",
		        kept);
		ok(plan.pinned_sets >= 1 &&
		                (plan.pinned_sets == 1 || plan.pinned_sets * FEWEST <= stages),
		        "of %" PRId64 " times 32 rows", stages);
	}
	return finish();
}
