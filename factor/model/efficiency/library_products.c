/* SPDX-License-Identifier: MIT */
#include "library_products.h"

#include "factor/kernels/gemm/product_work.h"

#include <math.h>

/* The constants, chosen so that efficiencies of a GPU hold for parts of it with fewer
 * multiprocessors. */
enum {
	SUMS = 64 << 10,   /* bytes of the largest tile */
	RESIDENT = 2,      /* blocks of a multiprocessor; 1 of instructions of a warpgroup */
	DEPTH = 32,        /* inner dimension that is loaded at once, */
	UNIT = 8,          /* that is computed at once, */
	LEAST_SPLIT = 256, /* and of a split, at least */
	START = 10,        /* accesses to L2 of a tile, one after the other, beside each depth's */
	READERS = 2,       /* blocks that one read of an operand serves */
	EDGE = 64,         /* an element of a tile's edges costs as much as so many of its area, */
	SUM = 2,           /* a word of a split's sum, written and read, as so many */
	LAUNCH =
	        12 << 10, /* and the launch that adds them up as so many: 1.7 us of multiply-adds */
	COLUMN = 512      /* bytes of a column of a solve's blocks on the diagonal */
};

static const double sides[] = {128, 64, 32};

/* Rounds on the busiest multiprocessor, each as long as a tile's area and edges say; and the sums
 * of splits. The unit is an element of a tile's area, DEPTH deep. */
static double cost(const struct library_product *p, const struct product_tiles *t)
{
	const double sums = t->splits * p->m * p->n * t->word / sizeof(float),
	             rounds = ceil(t->tiles * t->splits / p->sms);

	return rounds * ceil(p->k / t->splits / DEPTH) *
	               (t->rows * t->columns + EDGE * (t->rows + t->columns)) +
	       (t->splits > 1 ? LAUNCH + SUM * sums / p->sms : 0);
}

static void set_tile(const struct library_product *p, double rows, double columns, double splits,
        struct product_tiles *t)
{
	const double down = ceil(p->m / rows), across = ceil(p->n / columns);

	t->rows = rows;
	t->columns = columns;
	t->tiles =
	        p->count * (p->triangle ? (down * across + fmax(down, across)) / 2 : down * across);
	t->splits = splits;
	t->resident = t->pipe == PIPE_GROUP_TF32 && rows * columns * t->word == SUMS ? 1 : RESIDENT;
}

static void choose(const struct library_product *p, struct product_tiles *best)
{
	double least = INFINITY;
	struct product_tiles t = *best;

	for (size_t i = 0; i < ARRAY_LEN(sides); i++)
		for (size_t j = 0; j < ARRAY_LEN(sides); j++)
			for (double splits = 1; splits == 1 || p->k / splits >= LEAST_SPLIT;
			        splits *= 2) {
				if (sides[i] * sides[j] * t.word > SUMS ||
				        (p->triangle && splits > 1))
					continue;
				set_tile(p, sides[i], sides[j], splits, &t);
				if (cost(p, &t) >= least)
					continue;
				least = cost(p, &t);
				*best = t;
			}
}

size_t library_product_work(const struct library_product *p, struct kernel_work *work)
{
	const double word = (double)precision_bytes(p->precision);
	struct product_tiles t = {.pipe = p->pipe,
	        .times = 1,
	        .word = word,
	        .operand = word,
	        .m = p->m,
	        .n = p->n * p->count,
	        .k = p->k,
	        .part = p->triangle ? (p->n + 1) / (2 * p->n) : 1,
	        .old = p->old,
	        .depth = DEPTH,
	        .unit = UNIT,
	        .start = START,
	        .loads = 1,
	        .readers = READERS,
	        .threads = 256,
	        .sms = p->sms};

	if (p->tile > 0) {
		set_tile(p, p->tile, p->tile, 1, &t);
		t.resident = 1;
	} else {
		choose(p, &t);
	}
	product_tiles_work(&t, &work[0]);
	if (t.splits == 1)
		return 1;
	product_sum_work(&t, t.threads, t.threads, &work[1]);
	return 2;
}

/* A product of the recursion. */
static void set_square(
        struct library_product *p, double side, double count, struct kernel_work *work)
{
	struct kernel_work two[2];

	p->m = p->k = side;
	library_product_work(p, two);
	*work = two[0];
	work->launches = count;
}

/* Rows of the triangle one after the other. A multiply-add reads an operand from shared memory. */
static void set_block(enum precision precision, double order, double m, double n, double launches,
        struct kernel_work *work)
{
	enum { COLUMNS = 8, THREADS = 128, WARP = 32 };
	const double word = (double)precision_bytes(precision), sums = order * order * n;

	*work = (struct kernel_work){.launches = launches,
	        .blocks = ceil(fmax(n / COLUMNS, order * word / COLUMN)),
	        .threads = THREADS,
	        .registers = 64,
	        .dram = {order * (order / 2 + n) * word, order * n * word},
	        .working_set = m * (m / 2 + n) * word,
	        .wavefronts = sums / WARP};
	work->operations[work_fma_pipe(precision)] = sums;
	work->link[LINK_L2] = 2;
	work->link[LINK_BLOCK] = work->link[LINK_SHARED] = order;
	work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] = order;
}

/* By halves: two solves and the product between them, down to blocks on the diagonal, which a
 * kernel solves; a single right-hand side takes one kernel. The products of all levels from the
 * third on count as the third's. */
size_t library_solve_work(enum precision precision, enum work_pipe pipe, double m, double n,
        int sms, struct kernel_work *work)
{
	enum { LEVELS = 3 };
	const double most = COLUMN / (double)precision_bytes(precision),
	             order = n > 1 ? fmin(m, most) : m, blocks = ceil(m / order);
	struct library_product rest = {
	        .precision = precision, .pipe = pipe, .n = n, .count = 1, .old = true, .sms = sms};
	size_t count = 1;

	set_block(precision, order, m, n, blocks, &work[0]);
	for (double side = m / 2, products = 1; side >= order && count <= LEVELS;
	        side /= 2, products *= 2, count++)
		set_square(
		        &rest, side, count < LEVELS ? products : blocks - products, &work[count]);
	return count;
}
