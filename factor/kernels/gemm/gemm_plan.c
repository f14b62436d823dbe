/* SPDX-License-Identifier: MIT */
/* The plan of a matrix product: the tile shape and the splits of k with the fewest estimated
 * cycles. */
#include "gemm.h"

const struct gemm_geometry gemm_geometry[GEMM_SHAPES] = {
        {128, 128, 8, 2},
        {128, 64, 16, 3},
        {64, 128, 16, 3},
        {64, 64, 16, 4},
        {128, 32, 16, 4},
        {32, 128, 16, 4},
        {64, 64, 16, 2},
};

enum { DOUBLE_SHARED_BYTES = 84 << 10 };

enum { LEAST_STEPS = 4 }; /* of a split, at least */

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Cycles of a round with `beside` blocks on the SM, one tile or split each. */
static double round_cycles(const struct gemm_problem *p, const struct gemm_tuning *t, int shape,
        double depth, int beside)
{
	const struct gemm_geometry *g = &gemm_geometry[shape];
	const double elements = (double)g->rows * g->columns;
	const double alone = (p->ta ? g->rows : 0) + (p->tb ? 0 : g->columns);
	const double sums = depth * elements / t->multiply_adds[p->precision == DOUBLE] /
	                    t->rate[shape][beside - 1];
	return beside * (sums + depth * alone * t->cycles.copy + elements * t->cycles.element +
	                        t->cycles.unit);
}

/* Every block processes one tile after the other; in the last round some SMs have fewer blocks.
 * After that round nothing hides the stores of C. Measured for triangles only. */
static double cycles(
        const struct gemm_problem *p, const struct tuning *tuning, int shape, int64_t splits)
{
	const struct gemm_geometry *g = &gemm_geometry[shape];
	const struct gemm_tuning *t = &tuning->gemm;
	const int sm_count = tuning->device.sm_count;
	const int64_t rows = divide_up(p->m, g->rows), columns = divide_up(p->n, g->columns);
	const int64_t square = rows < columns ? rows : columns;
	const int64_t above = p->part == GEMM_WHOLE ? 0 : square * (square - 1) / 2;
	const int64_t tiles = rows * columns - above;
	const double depth = (double)(divide_up(divide_up(p->k, g->depth), splits) * g->depth);
	const int64_t blocks = (int64_t)sm_count * g->resident, units = tiles * splits;
	const int64_t last = divide_up(units % blocks, sm_count);
	double sum = t->cycles.start +
	             (double)(units / blocks) * round_cycles(p, t, shape, depth, g->resident);
	if (last)
		sum += round_cycles(p, t, shape, depth, (int)last);
	if (p->part != GEMM_WHOLE)
		sum += (last ? (double)last : g->resident) * g->rows * g->columns * t->cycles.end;
	if (splits > 1)
		sum += t->cycles.reduce + t->cycles.partial * (double)(splits + 2) *
		                                  ((double)p->m * (double)p->n) / sm_count;
	return sum;
}

static int64_t work_bytes(const struct gemm_problem *p, int64_t splits)
{
	return splits * divide_up(p->m, 4) * 4 * p->n * precision_bytes(p->precision);
}

/* Splits that give each multiprocessor `beside` blocks, limited by k and the work memory. */
static int64_t splits_for(const struct gemm_problem *p, const struct gemm_geometry *g, int beside,
        int sm_count, int64_t most_bytes)
{
	const int64_t tiles = divide_up(p->m, g->rows) * divide_up(p->n, g->columns);
	int64_t splits;

	if (tiles == 0)
		return 1;
	splits = (int64_t)sm_count * beside / tiles;
	splits = smaller(splits, divide_up(p->k, g->depth) / LEAST_STEPS);
	splits = smaller(splits, most_bytes / work_bytes(p, 1));
	return splits > 1 ? splits : 1;
}

struct gemm_plan gemm_plan_make(
        const struct gemm_problem *problem, const struct tuning *tuning, int64_t most_bytes)
{
	const int sm_count = tuning->device.sm_count;
	struct gemm_plan best = {.splits = 1};
	double least = -1;

	const int first = problem->precision == SINGLE ? 0 : GEMM_DOUBLE;
	const int end = problem->precision == SINGLE ? GEMM_DOUBLE : GEMM_SHAPES;
	for (int shape = first; shape < end; shape++) {
		const struct gemm_geometry *g = &gemm_geometry[shape];
		if (problem->part != GEMM_WHOLE && g->rows != g->columns)
			continue;
		for (int beside = 0; beside <= (most_bytes ? g->resident : 0); beside++) {
			const int64_t splits =
			        beside ? splits_for(problem, g, beside, sm_count, most_bytes) : 1;
			const double cost = cycles(problem, tuning, shape, splits);
			if (least < 0 || cost < least) {
				least = cost;
				best = (struct gemm_plan){.shape = shape,
				        .splits = (int)splits,
				        .work_bytes = splits > 1 ? work_bytes(problem, splits) : 0};
			}
		}
	}
	return best;
}

int gemm_unaligned_shape(const struct gemm_problem *p, int shape)
{
	if (shape >= GEMM_DOUBLE)
		return shape;
	return p->part == GEMM_WHOLE && shape < GEMM_NARROW ? 1 : 3;
}

bool gemm_has(enum precision precision, int code, int64_t shared_per_block)
{
	return precision == SINGLE || (code >= 90 && shared_per_block >= DOUBLE_SHARED_BYTES);
}

enum {
	TALL = 4,          /* rows of A per column; twice as many */
	TALL_COLUMNS = 256 /* with more columns than this, and more than B has */
};

bool gemm_is_ahead(
        const struct tuning *tuning, enum precision precision, int64_t m, int64_t n, int64_t k)
{
	const struct gemm_tuning *t = &tuning->gemm;
	const int64_t depth =
	        m * n >= t->ahead_elements_large ? t->ahead_depth_large : t->ahead_depth;
	return precision == SINGLE && k <= depth && m * n >= t->ahead_elements;
}

/* With fewer rows per column cuBLAS is faster. */
bool gemm_is_ahead_tall(const struct tuning *tuning, const struct gemm_problem *p)
{
	const struct gemm_tuning *t = &tuning->gemm;
	const int64_t shorter = smaller(p->m, p->n), longer = p->m + p->n - shorter;

	return p->precision == SINGLE && p->ta && !p->tb && p->part == GEMM_WHOLE &&
	       shorter <= t->ahead_tall_side && p->k >= t->ahead_tall_rows &&
	       p->k >= t->ahead_tall * longer;
}

bool gemm_is_tall(const struct gemm_problem *p)
{
	const bool wide = p->m > p->n && p->m > TALL_COLUMNS;

	return p->ta && !p->tb && p->k >= (wide ? 2 * TALL : TALL) * p->m;
}

/* For fewer columns, or fewer columns times k, cuBLAS takes a slower kernel. */
bool gemm_is_ahead_triangle(
        const struct tuning *tuning, enum precision precision, int64_t n, int64_t k)
{
	const struct gemm_tuning *t = &tuning->gemm;

	return precision == SINGLE || k <= t->ahead_depth || n * k < t->ahead_triangle ||
	       n < t->ahead_order;
}

enum { CHOSEN_TILE = 128 };

/* For narrower products, as V^T C of few reflectors, the library has kernels that split k. */
bool gemm_is_chosen(const struct tuning *tuning, const struct gemm_problem *p)
{
	const struct gemm_tuning *t = &tuning->gemm;
	const int64_t rows = divide_up(p->m, CHOSEN_TILE), columns = divide_up(p->n, CHOSEN_TILE);

	if (p->ta == p->tb)
		return p->k >= t->chosen_depth_plain && p->m * p->n >= t->chosen_elements_plain;
	return p->k >= t->chosen_depth && p->m >= t->chosen_side && p->n >= t->chosen_side &&
	       rows * columns >= tuning->device.sm_count;
}

/* A separate line costs a kernel and the time of that many lines of the product. */
static bool is_worth_a_kernel(
        const struct gemm_tuning *t, const struct gemm_problem *p, int64_t line)
{
	const int64_t all = p->m * p->n * p->k;

	return (p->part == GEMM_WHOLE ? all : all / 2) >= t->edge_least + t->edge_line * line;
}

/* The library's fast kernels need columns of all three matrices aligned to pairs of elements.
 * docs/experiments/gemm.md has the gains. */
enum gemm_edge gemm_edge(const struct tuning *tuning, const struct gemm_problem *p)
{
	const struct gemm_tuning *t = &tuning->gemm;
	const bool along_n = p->tb, along_k = p->ta || !p->tb;

	if (p->precision != DOUBLE)
		return GEMM_EVEN;
	if (p->m % 2 && is_worth_a_kernel(t, p, p->n * p->k))
		return GEMM_ROW;
	if (along_n && p->n % 2 && is_worth_a_kernel(t, p, p->m * p->k))
		return GEMM_COLUMN;
	return along_k && p->k % 2 && is_worth_a_kernel(t, p, p->m * p->n) ? GEMM_INNER : GEMM_EVEN;
}

/* At the power limit halves are faster than cuBLAS's syrk for deep updates of large order. */
bool gemm_halves_triangle(const struct tuning *tuning, int64_t n, int64_t k)
{
	return n > tuning->gemm.halved_order && k >= tuning->gemm.halved_depth;
}
