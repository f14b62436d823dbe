/* SPDX-License-Identifier: MIT */
/* The plan of a matrix product: the tile shape and the splits of k with the fewest estimated
 * cycles. */
#include "gemm.h"

/* Measured rates. Only their ratios within a precision matter. */
const struct gemm_geometry gemm_geometry[GEMM_SHAPES] = {
        {128, 128, 8, 2, {0.45, 0.79}},
        {128, 64, 16, 3, {0.62, 0.73, 0.80}},
        {64, 128, 16, 3, {0.61, 0.73, 0.82}},
        {64, 64, 16, 4, {0.55, 0.66, 0.70, 0.73}},
        {128, 32, 16, 4, {0.56, 0.67, 0.70, 0.71}},
        {32, 128, 16, 4, {0.55, 0.65, 0.69, 0.71}},
        {64, 64, 16, 2, {0.56, 0.65}},
};

enum { DOUBLE_SHARED_BYTES = 84 << 10 };

enum { LEAST_STEPS = 4 }; /* of a split, at least */

/* Cycles of an SM with 128 multiply-adds per cycle. */
static const double start_cycles = 2000;   /* first operands of a kernel */
static const double unit_cycles = 300;     /* start and end of a tile */
static const double element_cycles = 0.2;  /* store of an element of a tile */
static const double end_cycles = 1.2;      /* and in a triangle's last tiles, see below */
static const double copy_cycles = 0.08;    /* an element that is copied separately */
static const double reduce_cycles = 5000;  /* the second kernel, */
static const double partial_cycles = 0.35; /* and its read of an element of a partial C */

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Cycles of a round with `beside` blocks on the SM, one tile or split each. */
static double round_cycles(
        const struct gemm_problem *p, const struct gemm_geometry *g, double depth, int beside)
{
	const double elements = (double)g->rows * g->columns;
	const double alone = (p->ta ? g->rows : 0) + (p->tb ? 0 : g->columns);
	const double sums = depth * elements / 128 / g->rate[beside - 1];
	return beside *
	       (sums + depth * alone * copy_cycles + elements * element_cycles + unit_cycles);
}

/* Every block processes one tile after the other; in the last round some SMs have fewer blocks.
 * After that round nothing hides the stores of C. Measured for triangles only. */
static double cycles(
        const struct gemm_problem *p, const struct gemm_geometry *g, int64_t splits, int sm_count)
{
	const int64_t rows = divide_up(p->m, g->rows), columns = divide_up(p->n, g->columns);
	const int64_t square = rows < columns ? rows : columns;
	const int64_t above = p->part == GEMM_WHOLE ? 0 : square * (square - 1) / 2;
	const int64_t tiles = rows * columns - above;
	const double depth = (double)(divide_up(divide_up(p->k, g->depth), splits) * g->depth);
	const int64_t blocks = (int64_t)sm_count * g->resident, units = tiles * splits;
	const int64_t last = divide_up(units % blocks, sm_count);
	double sum =
	        start_cycles + (double)(units / blocks) * round_cycles(p, g, depth, g->resident);
	if (last)
		sum += round_cycles(p, g, depth, (int)last);
	if (p->part != GEMM_WHOLE)
		sum += (last ? (double)last : g->resident) * g->rows * g->columns * end_cycles;
	if (splits > 1)
		sum += reduce_cycles + partial_cycles * (double)(splits + 2) *
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
        const struct gemm_problem *problem, int sm_count, int64_t most_bytes)
{
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
			const double cost = cycles(problem, g, splits, sm_count);
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

bool gemm_has(enum precision precision, int code, int64_t shared_per_block)
{
	return precision == SINGLE || (code >= 90 && shared_per_block >= DOUBLE_SHARED_BYTES);
}

enum {
	TALL = 4,           /* rows of A per column; twice as many */
	TALL_COLUMNS = 256, /* with more columns than this, and more than B has */
	AHEAD_DEPTH = 256,
	AHEAD_ELEMENTS = 512 * 512,
	AHEAD_DEPTH_LARGE = 512, /* when C is that large */
	AHEAD_ELEMENTS_LARGE = 4096 * 4096,
	AHEAD_TALL = 16,            /* rows of A and B, in multiples of C's longer side; */
	AHEAD_TALL_ROWS = 4096,     /* at least; */
	AHEAD_TALL_SIDE = 256,      /* most columns of C's shorter side */
	AHEAD_TRIANGLE = 512 * 512, /* columns times k */
	AHEAD_ORDER = 512
};

bool gemm_is_ahead(enum precision precision, int64_t m, int64_t n, int64_t k)
{
	const int64_t depth = m * n >= AHEAD_ELEMENTS_LARGE ? AHEAD_DEPTH_LARGE : AHEAD_DEPTH;
	return precision == SINGLE && k <= depth && m * n >= AHEAD_ELEMENTS;
}

/* With fewer rows per column cuBLAS is faster. */
bool gemm_is_ahead_tall(const struct gemm_problem *p)
{
	const int64_t shorter = smaller(p->m, p->n), longer = p->m + p->n - shorter;

	return p->precision == SINGLE && p->ta && !p->tb && p->part == GEMM_WHOLE &&
	       shorter <= AHEAD_TALL_SIDE && p->k >= AHEAD_TALL_ROWS && p->k >= AHEAD_TALL * longer;
}

bool gemm_is_tall(const struct gemm_problem *p)
{
	const bool wide = p->m > p->n && p->m > TALL_COLUMNS;

	return p->ta && !p->tb && p->k >= (wide ? 2 * TALL : TALL) * p->m;
}

/* For fewer columns, or fewer columns times k, cuBLAS takes a slower kernel. */
bool gemm_is_ahead_triangle(enum precision precision, int64_t n, int64_t k)
{
	return precision == SINGLE || k <= AHEAD_DEPTH || n * k < AHEAD_TRIANGLE || n < AHEAD_ORDER;
}

enum {
	CHOSEN_TILE = 128,
	CHOSEN_SIDE = 1024,
	CHOSEN_DEPTH = 768,
	CHOSEN_DEPTH_PLAIN = 384,
	CHOSEN_ELEMENTS_PLAIN = 8192 * 8192,
	HALVED_ORDER = 4096,
	HALVED_DEPTH = 512,
	EDGE_LEAST = 500000000,
	EDGE_LIKE = 512
};

/* For narrower products, as V^T C of few reflectors, the library has kernels that split k. */
bool gemm_is_chosen(const struct gemm_problem *p, int sm_count)
{
	const int64_t rows = divide_up(p->m, CHOSEN_TILE), columns = divide_up(p->n, CHOSEN_TILE);

	if (p->ta == p->tb)
		return p->k >= CHOSEN_DEPTH_PLAIN && p->m * p->n >= CHOSEN_ELEMENTS_PLAIN;
	return p->k >= CHOSEN_DEPTH && p->m >= CHOSEN_SIDE && p->n >= CHOSEN_SIDE &&
	       rows * columns >= sm_count;
}

/* A separate line costs a kernel and the time of that many lines of the product. */
static bool is_worth_a_kernel(const struct gemm_problem *p, int64_t line)
{
	const int64_t all = p->m * p->n * p->k;

	return (p->part == GEMM_WHOLE ? all : all / 2) >= EDGE_LEAST + EDGE_LIKE * line;
}

/* The library's fast kernels need columns of all three matrices aligned to pairs of elements.
 * docs/experiments/gemm.md has the gains. */
enum gemm_edge gemm_edge(const struct gemm_problem *p)
{
	const bool along_n = p->tb, along_k = p->ta || !p->tb;

	if (p->precision != DOUBLE)
		return GEMM_EVEN;
	if (p->m % 2 && is_worth_a_kernel(p, p->n * p->k))
		return GEMM_ROW;
	if (along_n && p->n % 2 && is_worth_a_kernel(p, p->m * p->k))
		return GEMM_COLUMN;
	return along_k && p->k % 2 && is_worth_a_kernel(p, p->m * p->n) ? GEMM_INNER : GEMM_EVEN;
}

/* At the power limit halves are faster than cuBLAS's syrk for deep updates of large order. */
bool gemm_halves_triangle(int64_t n, int64_t k)
{
	return n > HALVED_ORDER && k >= HALVED_DEPTH;
}
