/* SPDX-License-Identifier: MIT */
/* The geometry of a matrix product from its sizes: of all tile shapes and splits of k the one whose
 * cycles add up to least. */
#include "gemm.h"

/* Rates measured on an H200; only their ratios within a precision decide. */
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

enum { LEAST_STEPS = 4 }; /* of a split */

/* In cycles of an SM that does 128 multiply-adds in each. */
static const double start_cycles = 2000;   /* first operands of a kernel */
static const double unit_cycles = 300;     /* a tile's start and end */
static const double element_cycles = 0.2;  /* an element of a tile stored */
static const double end_cycles = 1.2;      /* and one of a triangle's last tiles, see below */
static const double copy_cycles = 0.08;    /* an element that is copied alone */
static const double reduce_cycles = 5000;  /* the second kernel, */
static const double partial_cycles = 0.35; /* and an element of a partial C read by it */

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One block's work on a tile or split, with `beside` blocks on the SM, times their number. */
static double round_cycles(
        const struct gemm_problem *p, const struct gemm_geometry *g, double depth, int beside)
{
	const double elements = (double)g->rows * g->columns;
	const double alone = (p->ta ? g->rows : 0) + (p->tb ? 0 : g->columns);
	const double sums = depth * elements / 128 / g->rate[beside - 1];
	return beside *
	       (sums + depth * alone * copy_cycles + elements * element_cycles + unit_cycles);
}

/* Every block works on one tile after the other; in the last round some SMs have fewer blocks.
 * Behind that round nothing hides the way of C (triangles, H200, us, k = 64, 128, 256: n = 2744 by
 * tiles of 128, which fill one round, 31.5 43.2 66.0, by tiles of 64 21.8 34.5 59.0, beside a panel
 * of Cholesky 57 71 96 and 42 56 80; n = 4024 58 83 132 and 41 65 114; n = 4096 45.4 66.8 110.3 and
 * 40.1 64.7 113.2). Products were not looked at for it. */
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

/* So many splits that each multiprocessor has `beside` blocks, as far as k and the work memory
 * allow that. */
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

bool gemm_has(enum precision precision, int major, int64_t shared_per_block)
{
	return precision == SINGLE || (major >= 9 && shared_per_block >= DOUBLE_SHARED_BYTES);
}

enum {
	TALL = 4,           /* rows of A for each of its columns; twice as many */
	TALL_COLUMNS = 256, /* where there are more, and more than B has */
	AHEAD_DEPTH = 256,
	AHEAD_ELEMENTS = 512 * 512,
	AHEAD_DEPTH_LARGE = 512, /* where C is that large */
	AHEAD_ELEMENTS_LARGE = 4096 * 4096,
	AHEAD_TALL = 16,            /* rows of A and B, as many times as the longer side of C; */
	AHEAD_TALL_ROWS = 4096,     /* at least; */
	AHEAD_TALL_SIDE = 256,      /* the shorter side of C at most */
	AHEAD_TRIANGLE = 512 * 512, /* columns times k */
	AHEAD_ORDER = 512
};

bool gemm_is_ahead(enum precision precision, int64_t m, int64_t n, int64_t k)
{
	const int64_t depth = m * n >= AHEAD_ELEMENTS_LARGE ? AHEAD_DEPTH_LARGE : AHEAD_DEPTH;
	return precision == SINGLE && k <= depth && m * n >= AHEAD_ELEMENTS;
}

/* H200: at 16 times as many rows as columns 0.82 (64 x 1024) to 1.0 (128 x 512) of cuBLAS's time,
 * at 8 times 1.04 (64 x 1000). 64 x 64 of 131072 rows takes 44 us of 18 for its operations; a
 * kernel that kept both operands as they lie, four of k in one read, took 47: the registers of 225
 * in 512 multiply-adds were of one bank, and with that mended 128 x 384 was at 35 Tflop/s, here 45.
 */
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

/* Where columns times k or columns are fewer cuBLAS takes another kernel (H200): 512 columns by 256
 * of k take it 31 us, by 512 11 us, 1024 by 128 35 and by 256 19; ours 14, 20, 13, 19. 384 by 1024
 * take it 68 us. */
bool gemm_is_ahead_triangle(enum precision precision, int64_t n, int64_t k)
{
	return precision == SINGLE || k <= AHEAD_DEPTH || n * k < AHEAD_TRIANGLE || n < AHEAD_ORDER;
}

enum {
	CHOSEN_TILE = 128,
	CHOSEN_TILES = 132, /* that many multiprocessors of an H200 have one each */
	CHOSEN_SIDE = 1024,
	CHOSEN_DEPTH = 768,
	CHOSEN_DEPTH_PLAIN = 384,
	CHOSEN_ELEMENTS_PLAIN = 8192 * 8192,
	HALVED_ORDER = 4096,
	HALVED_DEPTH = 512,
	EDGE_LEAST = 500000000,
	EDGE_LIKE = 512
};

/* Narrower products, as the V^T C of a few reflectors, have kernels of the library that split k. */
bool gemm_is_chosen(const struct gemm_problem *p)
{
	const int64_t rows = divide_up(p->m, CHOSEN_TILE), columns = divide_up(p->n, CHOSEN_TILE);

	if (p->ta == p->tb)
		return p->k >= CHOSEN_DEPTH_PLAIN && p->m * p->n >= CHOSEN_ELEMENTS_PLAIN;
	return p->k >= CHOSEN_DEPTH && p->m >= CHOSEN_SIDE && p->n >= CHOSEN_SIDE &&
	       rows * columns >= CHOSEN_TILES;
}

/* A line takes a kernel of its own, and as long as so many of its like in the product. */
static bool is_worth_a_kernel(const struct gemm_problem *p, int64_t line)
{
	const int64_t all = p->m * p->n * p->k;

	return (p->part == GEMM_WHOLE ? all : all / 2) >= EDGE_LEAST + EDGE_LIKE * line;
}

/* The library's quick kernels want pairs of elements along the columns of all three matrices.
 * Without and with a line by itself (H200, us; of even sides): A B, 9943 x 9943, k = 64 643 626
 * (627), 128 956 770 (763), 512 2657 2060 (2149), 2947 x 2947, 128 84 72 (68); A^T B of 128 x 9900,
 * k = 9943 682 516 (508); A B^T of 9943 x 2048, k = 2048 1704 1497 (1628); a triangle of 9943, k =
 * 512 1558 1138 (1139). Factorizations in double precision: LU of 5555 and 10007 columns 9.13 28.4
 * -> 9.03 27.3 ms, QR 17.2 52.2 -> 17.0 48.4, Cholesky 2.67 9.95 -> 2.44 9.17, of 20001 62.3 ->
 * 56.0; of 2047 and 3001 nothing. */
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

/* H200, Tflop/s on end, orders 8192, 14336 and 30720, k = 2048: cuBLAS's syrk 47, 45, 42 (its clock
 * falls to 1400 MHz at the limit of power), halves down to 4096 53, 52, 55, to 2048 52, 53, 53; k =
 * 512 45, 42, 38 and 45, 45, 46; of 4096 itself 50 and 52 by halves. At k = 256 our own kernel has
 * 35, 36, 34, in halves 37, 37, 37; between the two depths none was measured. */
bool gemm_halves_triangle(int64_t n, int64_t k)
{
	return n > HALVED_ORDER && k >= HALVED_DEPTH;
}
