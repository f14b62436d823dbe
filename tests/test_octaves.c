/* SPDX-License-Identifier: MIT */
#include "../lib/base.h"
#include "../lib/octaves.h"
#include "tap.h"

static void test_sizes(void)
{
	ok(octave_size(1024, 4096, 2, 0, 1) == 1024, "the first size is the lowest");
	ok(octave_size(1024, 4096, 2, 1, 1) == 1448, "two in an octave");
	ok(octave_size(1024, 4096, 2, 1, 128) == 1408, "in whole units");
	ok(octave_size(1024, 4096, 2, 4, 1) == 4096, "the highest is there");
	ok(octave_size(1024, 4096, 2, 5, 1) == 0, "and none beyond it");
	ok(octave_size(1, 64, 6, 0, 64) == 64, "at least one unit");
}

static void test_counts(void)
{
	const int64_t first[] = {4, 5, 6, 7, 8, 10, 12, 14, 16};
	bool right = true;
	for (int k = 0; k < (int)ARRAY_LEN(first); ++k)
		right = right && octave_count(k) == first[k];
	ok(right, "four whole numbers in an octave");
}

int main(void)
{
	test_sizes();
	test_counts();
	return finish();
}
