/* SPDX-License-Identifier: MIT */
/* The barrier probe's fit: every point becomes a row with its arguments; an impossible time fails.
 */
#include "tests/fit_test.h"

static const char *const columns[] = {"blocks", "threads", "words"};

int main(void)
{
	static const struct timed_point points[] = {
	        {"block[blocks=1,threads=256]", 14e-9},
	        {"cluster[blocks=8,threads=256]", 190e-9},
	        {"counter[blocks=16,threads=256]", 0.9e-6},
	        {"counter[blocks=132,threads=256]", 1.1e-6},
	        {"master[blocks=132,threads=256]", 1.4e-6},
	        {"grid[blocks=132,threads=1024]", 1.2e-6},
	        {"reduce_max[blocks=1,threads=512]", 90e-9},
	        {"exchange_grid[blocks=132,threads=32,words=64]", 2e-6},
	        {"flag[blocks=132,threads=32]", 5e-9},
	};
	static const struct expected_row rows[] = {
	        {"gpu.barrier.block[threads=256]", 14e-9, NULL},
	        {"gpu.barrier.cluster[blocks=8]", 190e-9, NULL},
	        {"gpu.barrier.counter[blocks=16,threads=256]", 0.9e-6, NULL},
	        {"gpu.barrier.counter[blocks=132,threads=256]", 1.1e-6, NULL},
	        {"gpu.barrier.master[blocks=132,threads=256]", 1.4e-6, NULL},
	        {"gpu.barrier.grid[blocks=132,threads=1024]", 1.2e-6, NULL},
	        {"gpu.reduce.max[threads=512]", 90e-9, NULL},
	        {"gpu.exchange.grid[blocks=132,words=64]", 2e-6, NULL},
	        /* one way through the chip within ten cycles */
	        {"gpu.flag.sm_to_sm", 5e-9, "failed"},
	};

	is_empty_fit(barrier_fit, columns, ARRAY_LEN(columns));
	CHECK_FIT(barrier_fit, columns, points, rows);
	return finish();
}
