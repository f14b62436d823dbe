/* SPDX-License-Identifier: MIT */
#include "tf32_tall.h"

enum {
	STAGE = 32,   /* rows */
	OVERHEAD = 8, /* of a piece, in stages' times */
	MOST_PARTS = 32,
	JOIN = 1 /* of a part in the sum of all */
};

static int64_t up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

bool tf32_tall_fits(int major, int64_t shared_per_block)
{
	enum { MAJOR = 8 };

	return major >= MAJOR && shared_per_block >= TF32_TALL_SHARED;
}

int64_t tf32_tall_scratch(const struct tf32_tall_plan *plan)
{
	const int64_t tile = TF32_TALL_SIDE * TF32_TALL_ACROSS * (int64_t)sizeof(float);

	return plan->parts > 1 ? plan->tiles * (int64_t)plan->parts * tile : 0;
}

/* In stages' times: of the block that has most pieces. */
static int64_t cost(const struct tf32_tall_plan *plan, int64_t rows, int multiprocessors)
{
	const int64_t pieces = plan->tiles * (int64_t)plan->parts;
	const int64_t stages = up(up(rows, STAGE), plan->parts);

	return up(pieces, multiprocessors) * (stages + OVERHEAD) +
	       (plan->parts > 1 ? JOIN * plan->parts : 0);
}

struct tf32_tall_plan tf32_tall_plan_make(int64_t k, int64_t n, int64_t rows, int multiprocessors)
{
	const int64_t tiles = up(k, TF32_TALL_SIDE) * up(n, TF32_TALL_ACROSS);
	struct tf32_tall_plan best = {.tiles = (int)tiles, .parts = 1};

	for (int parts = 2; parts <= MOST_PARTS; parts++) {
		const struct tf32_tall_plan tried = {.tiles = (int)tiles, .parts = parts};
		if (tf32_tall_scratch(&tried) <= TF32_TALL_SCRATCH &&
		        cost(&tried, rows, multiprocessors) < cost(&best, rows, multiprocessors))
			best = tried;
	}
	best.blocks = best.tiles * best.parts < multiprocessors ? best.tiles * best.parts
	                                                        : multiprocessors;
	return best;
}
