/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "lib/stats/log_spaced.h"
#include "tests/tap.h"

static void test_sizes(void)
{
	ok(log_spaced_size(1024, 4096, 2, 0, 1) == 1024, "the first size is the lowest");
	ok(log_spaced_size(1024, 4096, 2, 1, 1) == 1448, "two in an doubling");
	ok(log_spaced_size(1024, 4096, 2, 1, 128) == 1408, "in whole units");
	ok(log_spaced_size(1024, 4096, 2, 4, 1) == 4096, "the highest is there");
	ok(log_spaced_size(1024, 4096, 2, 5, 1) == 0, "and none beyond it");
	ok(log_spaced_size(1, 64, 6, 0, 64) == 64, "at least one unit");
}

static void test_counts(void)
{
	const int64_t first[] = {4, 5, 6, 7, 8, 10, 12, 14, 16};
	bool right = true;
	for (int k = 0; k < (int)ARRAY_LEN(first); ++k)
		right = right && log_spaced_count(k) == first[k];
	ok(right, "four whole numbers in an doubling");
}

int main(void)
{
	test_sizes();
	test_counts();
	return finish();
}
