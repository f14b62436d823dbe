/* SPDX-License-Identifier: MIT */
#include "product_work.h"

#include <math.h>

enum { REGISTERS = 65536, REGISTERS_MOST = 255, REGISTERS_UNIT = 8 };

/* As many as so many blocks leave each other. */
static double registers(const struct product_tiles *t)
{
	const double each = REGISTERS / (t->threads * t->resident);

	return fmin(REGISTERS_MOST, floor(each / REGISTERS_UNIT) * REGISTERS_UNIT);
}

/* Tiles as if all multiprocessors had as many as the busiest one. */
static double levelled(const struct product_tiles *t, double units)
{
	return units <= t->resident * t->sms ? units : ceil(units / t->sms) * t->sms;
}

/* The operands' bytes, each once. A triangle has one operand. */
static double operand_bytes(const struct product_tiles *t)
{
	return (t->part < 1 ? t->m : t->m + t->n) * t->k * t->operand;
}

/* Each tile reads its rows and columns. */
static double tile_bytes(const struct product_tiles *t)
{
	const double down = ceil(t->m / t->rows), across = ceil(t->n / t->columns);

	return (across * t->m + down * t->n) * t->k * t->operand * t->tiles / (down * across);
}

void product_tiles_work(const struct product_tiles *t, struct kernel_work *work)
{
	const double units = t->tiles * t->splits,
	             blocks = t->blocks > 0 ? t->blocks : fmin(units, t->resident * t->sms),
	             busy = t->blocks > 0 ? units : levelled(t, units),
	             steps = ceil(ceil(t->k / t->depth) / t->splits),
	             computed = t->unit > 0 ? ceil(t->k / t->splits / t->unit) * t->unit
	                                    : steps * t->depth,
	             c = t->part * t->m * t->n * t->word, once = operand_bytes(t),
	             read = t->splits > 1 || !t->old ? 0 : c, written = t->splits > 1 ? 0 : c,
	             moved = read + written, turns = ceil(units / blocks);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = t->threads,
	        .registers = registers(t),
	        .dram = {once + read, written},
	        .l2 = {fmax(0, tile_bytes(t) / fmax(1, t->readers) - once),
	                t->splits > 1 ? t->splits * c : 0},
	        .working_set = once + c,
	        .in_flight = t->rows * t->columns * t->word / t->threads,
	        .apart = moved / (once + moved),
	        .chains = 8,
	        .wavefronts = (t->wavefronts * steps * t->depth + t->passes) * busy};
	work->operations[t->pipe] = 2 * t->times * t->rows * t->columns * computed * busy;
	work->link[LINK_L2] = (t->start - t->old + t->loads * steps) * turns;
	work->link[LINK_DRAM] = read > 0 ? turns : 0;
	work->link[LINK_BLOCK] = work->link[LINK_SHARED] = t->loads > 0 ? 0 : steps * turns;
}

void product_sum_work(
        const struct product_tiles *t, double elements, double threads, struct kernel_work *work)
{
	const double c = t->m * t->n * t->word;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = ceil(t->m * t->n / elements),
	        .threads = threads,
	        .registers = 32,
	        .dram = {t->old ? c : 0, c},
	        .l2 = {t->splits * c, 0},
	        .working_set = (t->splits + 1) * c};
	work->operations[t->pipe <= PIPE_FP64 ? t->pipe : PIPE_FP32] = 2 * t->splits * t->m * t->n;
	work->link[LINK_L2] = 2;
}
