/* SPDX-License-Identifier: MIT */
#include "tf32_tall.h"

enum {
	STAGE = 32, /* rows */
	FEWEST = 2, /* stages per team: fewer cost less than their start and end */
	SUMS = 2    /* of a block, of tiles that it shares */
};

static int64_t up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* A stage takes time proportional to its columns, including 128 for V. */
static int64_t width_for(int64_t n)
{
	const int64_t wide = up(n, TF32_TALL_ACROSS) * (TF32_TALL_ACROSS + TF32_TALL_SIDE),
	              narrow = up(n, TF32_TALL_NARROW) * (TF32_TALL_NARROW + TF32_TALL_SIDE);

	return narrow < wide ? TF32_TALL_NARROW : TF32_TALL_ACROSS;
}

struct tf32_tall_plan tf32_tall_plan_make(int64_t k, int64_t n, int64_t rows, int multiprocessors)
{
	const int64_t side = k <= TF32_TALL_SIDE / 2 ? TF32_TALL_SIDE / 2 : TF32_TALL_SIDE;
	const int64_t width = width_for(n);
	const int64_t tile = side * width * (int64_t)sizeof(float);
	const int64_t groups = up(k, side), across = up(n, width);
	const int64_t room = TF32_TALL_SCRATCH / (SUMS * tile);
	const int64_t blocks = multiprocessors < room ? multiprocessors : room;
	const int64_t most = across * up(rows, STAGE) / FEWEST;
	const int64_t pinned_sets = blocks / groups < most ? blocks / groups : most;

	return (struct tf32_tall_plan){(int)side, (int)width, (int)groups, (int)across,
	        pinned_sets > 1 ? (int)pinned_sets : 1};
}
