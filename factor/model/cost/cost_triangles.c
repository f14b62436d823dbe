/* SPDX-License-Identifier: MIT */
/* Costs at level 2 of our kernels that factorize or invert, from hardware parameters; QR's panels
 * are in cost_reflectors.c. Tiles are 32 x 32. A multiprocessor multiplies two tiles in 2 * 32^3
 * operations at its part of the FMA rate with operands from shared memory (gpu.fma.fed). It solves
 * with a triangular tile in 32 steps: two dependent operations, a read of shared memory, and an FMA
 * for each row that is left.
 *
 * trtri: n/32 (n/32 - 1) / 2 products and n/32 solves in turn for the first 32 columns; other
 * blocks have the other columns. larft: the product V^T V, and the same inversion (Joffrain et al.
 * 2006).
 *
 * potrf_block: a kernel for 128 columns and the rows below, a strip of rows a multiprocessor, and a
 * kernel for the columns right of them. One warp makes a tile's 32 columns in order: a reciprocal
 * root, five dependent operations, a write and a read of shared memory, and twice an FMA for each
 * column right. An update of small rank k is k/32 products a tile, a tile a multiprocessor.
 *
 * trsm_guard: every block reads both triangles, four loads a thread in flight, and reduces them to
 * their largest magnitudes. Where the profile has a kernel's surface (block_kernel probe), the
 * surface gives the time, and these formulas its division into terms. */
#include "cost_blocks.h"

#include "factor/kernels/blocks/block_kernels.h"

#include <math.h>

enum {
	TILE = 32,
	STEP = 128,
	GUARD_THREADS = 256,
	GUARD_SIDES = 32,
	GUARD_BLOCKS = 64,
	GUARD_LOADS = 4
};

/* One of two names. */
static double of(struct cost_reader *r, struct matrix a, const char *single, const char *twice)
{
	return cost_scalar(r, a.precision == SINGLE ? single : twice);
}

static double product(struct cost_reader *r, struct matrix a)
{
	double rate = of(r, a, "gpu.fma.s.rate", "gpu.fma.d.rate") / cost_scalar(r, "gpu.sm.count");

	return 2.0 * TILE * TILE * TILE /
	       (rate * cost_surface1(r, "gpu.fma.fed.lane", "width", 16));
}

double cost_multiply_adds(struct cost_reader *r, enum precision precision, double count)
{
	const char *rate = precision == SINGLE ? "gpu.fma.s.rate" : "gpu.fma.d.rate";

	return 2 * count / (cost_scalar(r, rate) / cost_scalar(r, "gpu.sm.count"));
}

double cost_issue(struct cost_reader *r, struct matrix a)
{
	return cost_multiply_adds(r, a.precision, WARP * SCHEDULERS);
}

/* Each step waits for a product and a read of shared memory, then works on the rows left. */
static double solve(struct cost_reader *r, struct matrix a)
{
	return TILE * (2 * of(r, a, "gpu.fma.s.latency", "gpu.fma.d.latency") +
	                      cost_scalar(r, "gpu.shared.latency") + TILE / 2 * cost_issue(r, a));
}

/* Traffic between L2 and one multiprocessor. */
static double through(struct cost_reader *r, double bytes)
{
	return bytes / cost_scalar(r, "gpu.sm.l2_read") + cost_scalar(r, "gpu.l2.latency");
}

/* A kernel on an n x n matrix, by its surface where the profile has it. */
static struct cost kernel_of_order(
        struct cost_reader *r, struct cost estimated, double n, const char *name)
{
	static const char *const axes[] = {"n"};

	return cost_if_measured(r, estimated, name, axes, &n, 1);
}

static struct cost inversion(struct cost_reader *r, struct matrix a)
{
	struct cost cost = cost_kernel(r);
	double tiles = ceil((double)a.n / TILE);

	cost.share = cost_share(r, tiles);
	cost.term[TERM_BARRIER] = tiles * solve(r, a);
	cost.term[TERM_ARITHMETIC] = tiles * (tiles - 1) / 2 * product(r, a);
	cost.term[TERM_MEMORY] = through(r, cost_bytes(a));
	return cost;
}

struct cost cost_trtri(struct cost_reader *r, struct matrix a)
{
	return kernel_of_order(
	        r, inversion(r, a), (double)a.n, OF_PRECISION("gpu.trtri", a.precision));
}

struct cost cost_larft(struct cost_reader *r, struct matrix v)
{
	struct matrix t = {NULL, 0, v.n, v.n, v.n, v.precision};

	return cost_both(cost_gemm(r, TRANSPOSED, PLAIN, t, v.m, true, true),
	        kernel_of_order(
	                r, inversion(r, t), (double)t.n, OF_PRECISION("gpu.larft", t.precision)));
}

static double potrf_column(struct cost_reader *r, struct matrix a)
{
	return of(r, a, "gpu.special.rsqrt.latency", "gpu.sqrt.d.latency") +
	       5 * of(r, a, "gpu.fma.s.latency", "gpu.fma.d.latency") +
	       cost_scalar(r, "gpu.shared.latency") + TILE * cost_issue(r, a);
}

/* The kernel has one of three inner dimensions. The measured rounds follow each other; behind an
 * event the kernel takes no longer, so it does not count as launched early. */
static struct cost rank_as_measured(struct cost_reader *r, struct cost cost,
        enum precision precision, double turns, int64_t k, bool aligned)
{
	static const char *const axes[] = {"rounds", "k"};
	double at[] = {turns, BLOCK_RANK_MAX};

	while (at[1] > BLOCK_RANK_HELD / 2 && (double)k <= at[1] / 2)
		at[1] /= 2;
	const char *name = OF_PRECISION("gpu.rank", precision);
	if (!cost_known(r, name))
		return cost;
	const double time = cost_surface(r, name, axes, at, 2);
	return cost_as_measured(cost,
	        aligned ? time
	                : cost_unaligned(r, time, OF_PRECISION("gpu.rank_unaligned", precision),
	                          name, axes, at, 2));
}

/* Seconds of a 32 x 32 by 32 product in an update of small rank. In single precision a multiply-add
 * takes half a word from shared memory (gpu.fma.fed.lane is measured with a whole one); in double
 * precision it runs on tensor cores. */
static double rank_product(struct cost_reader *r, struct matrix c)
{
	static const char *const cores = "gpu.mma.d16.rate";

	if (c.precision == SINGLE || !cost_known(r, cores))
		return product(r, c) / 2;
	return 2.0 * TILE * TILE * TILE * cost_scalar(r, "gpu.sm.count") / cost_scalar(r, cores);
}

struct cost cost_rank(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	struct cost cost = cost_kernel(r);
	int64_t n = c.m < c.n ? c.m : c.n, rows = c.m + c.n - n;
	double tiles = (double)block_rank_tiles(rows, n);
	double turns = ceil(tiles / cost_scalar(r, "gpu.sm.count"));
	double operands = 2 * word_bytes(c) * TILE * (double)k;

	cost.enqueue = cost_enqueue_early(r);
	cost.share = cost_share(r, tiles / BLOCK_RANK_RESIDENT);
	cost.term[TERM_ARITHMETIC] = turns * (double)k / TILE * rank_product(r, c);
	cost.term[TERM_MEMORY] =
	        through(r, turns * operands) +
	        cost_traffic(r, "gpu.copy.time", 2 * word_bytes(c) * TILE * TILE * tiles);
	return rank_as_measured(r, cost, c.precision, turns, k, aligned);
}

/* The blocks of these kernels. Without the size of shared memory their rows are not limited. */
struct potrf_blocks {
	double multiprocessors, shared;
	int word, most;
};

static struct potrf_blocks potrf_blocks_of(struct cost_reader *r, struct matrix a, bool overlapped)
{
	static const char *const room = "gpu.shared.per_block";

	return (struct potrf_blocks){.multiprocessors = cost_scalar(r, "gpu.sm.count"),
	        .shared = cost_known(r, room) ? cost_scalar(r, room) : INT32_MAX,
	        .word = (int)word_bytes(a),
	        .most = (int)cost_whole(r, "gpu.sm.count") / (overlapped ? BLOCK_POTRF_BESIDE : 1)};
}

static int potrf_strip(const struct potrf_blocks *b, double width, double below)
{
	return block_potrf_strip((int)width, (int64_t)below, b->word, b->most, (int64_t)b->shared);
}

/* Rounds of a kernel's blocks, at: its columns and the rows below. */
static double potrf_rounds(const double *at, const void *self)
{
	const struct potrf_blocks *b = self;
	const double strips = ceil(at[1] / potrf_strip(b, fmin(at[0], STEP), at[1]));

	return fmax(1, ceil(strips / b->multiprocessors));
}

/* The first columns of a trapezoid with `rows` rows and n columns left, and the update of the
 * others. */
static struct cost potrf_step(
        struct cost_reader *r, struct matrix a, int64_t rows, int64_t n, bool overlapped)
{
	struct cost cost = cost_kernel(r);
	int64_t width = n < STEP ? n : STEP, below = rows - width;
	const struct potrf_blocks blocks = potrf_blocks_of(r, a, overlapped);
	const double at[] = {(double)width, (double)below}, turns = potrf_rounds(at, &blocks);
	int strip = potrf_strip(&blocks, at[0], at[1]);
	double strips = ceil((double)below / strip);
	double tiles = ceil((double)width / TILE);
	double solved = below ? (double)strip / TILE * tiles * (tiles - 1) / 2 : 0;
	double words = (double)width * ((double)width / 2 + (below ? strip : 0));

	cost.independent = cost.early = true;
	cost.enqueue = cost_enqueue_early(r);
	cost.share = cost_share(r, fmax(1, strips / turns));
	cost.term[TERM_BARRIER] = turns * (double)width * potrf_column(r, a);
	cost.term[TERM_ARITHMETIC] =
	        turns * ((tiles - 1) * tiles * (tiles + 1) / 6 + solved) * product(r, a);
	cost.term[TERM_MEMORY] = turns * 2 * through(r, word_bytes(a) * words);
	if (n == width)
		return cost;
	struct matrix right = {NULL, 0, below, n - width, below, a.precision};
	return cost_both(cost, cost_rank(r, right, width, true));
}

/* The rows below that full strips of the same height hold, and that take as long; only where a
 * strip is higher than a tile. */
static double potrf_filled(const double *at, const struct potrf_blocks *b)
{
	const int strip = potrf_strip(b, at[0], at[1]);

	return strip == TILE ? at[1] : strip * b->multiprocessors * potrf_rounds(at, b);
}

/* Without rows below, the surface of blocks alone; else the surface of blocks with rows below,
 * which a kernel takes in whole rounds of strips. */
static struct cost potrf_as_measured(struct cost_reader *r, struct cost cost, struct matrix a,
        int64_t n, int64_t below, bool overlapped)
{
	static const char *const axes[] = {"n", "below"};
	const char *few = OF_PRECISION("gpu.potrf_rows_overlapped", a.precision),
	           *name = overlapped && cost_known(r, few)
	                           ? few
	                           : OF_PRECISION("gpu.potrf_rows", a.precision);
	const char *shared = OF_PRECISION("gpu.potrf_rows_shared", a.precision);
	const double at[] = {(double)n, (double)below};

	if (below == 0)
		return kernel_of_order(
		        r, cost, (double)n, OF_PRECISION("gpu.potrf_block", a.precision));
	const bool known = cost_known(r, name);
	if (known)
		cost = cost_as_measured(cost, cost_surface(r, name, axes, at, 2));
	cost.overlapped = cost_beside(r, &cost, a.precision, shared, axes, at, 0);
	if (!known || n > STEP)
		return cost;
	const struct potrf_blocks blocks = potrf_blocks_of(r, a, overlapped);
	const double filled[] = {at[0], overlapped ? at[1] : potrf_filled(at, &blocks)};
	return cost_as_measured(
	        cost, cost_surface(r, name, axes, filled, 2) *
	                      cost_along(r, name, axes, filled, 2, potrf_rounds, &blocks));
}

struct cost cost_potrf_block(struct cost_reader *r, struct matrix a, bool overlapped)
{
	int64_t n = a.m < a.n ? a.m : a.n, rows = a.m + a.n - n;
	struct cost cost = potrf_step(r, a, rows, n, overlapped);

	for (int64_t done = STEP; done < n; done += STEP)
		cost = cost_both(cost, potrf_step(r, a, rows - done, n - done, overlapped));
	if (rows == n)
		cost.alone = cost_alone(r, OF_PRECISION("gpu.alone.potrf", a.precision),
		        (const char *const[]){"n"}, &(const double){(double)n}, 1);
	return potrf_as_measured(r, cost, a, n, rows - n, overlapped);
}

struct cost cost_trsm_guard(struct cost_reader *r, struct matrix triangle, int64_t columns)
{
	struct cost cost = cost_kernel(r);
	double loads = 2 * (double)triangle.n * (double)triangle.n / GUARD_THREADS;

	cost.share = cost_share(r, fmin(GUARD_BLOCKS, ceil((double)columns / GUARD_SIDES)));
	cost.term[TERM_BARRIER] = 2 * cost_surface1(r, "gpu.reduce.max", "threads", GUARD_THREADS) +
	                          loads / GUARD_LOADS * cost_scalar(r, "gpu.l2.latency");
	return kernel_of_order(
	        r, cost, (double)triangle.n, OF_PRECISION("gpu.trsm_guard", triangle.precision));
}
