/* SPDX-License-Identifier: MIT */
/* Kernels of our own that factorize or invert, but for QR's panels (cost_reflectors.c), at level
 * 2, from hardware parameters. Tiles are 32 x 32; one multiprocessor multiplies two of them in 2 *
 * 32^3 operations at its share of the rate of FMA whose operands come from shared memory
 * (gpu.fma.fed), and solves with a triangular one in 32 steps, each of two operations and a read of
 * shared memory that wait for each other and an FMA for each row that is left.
 *
 * trtri: for the first 32 columns n/32 (n/32 - 1) / 2 products and n/32 solves in turn; the other
 * columns have blocks of their own.
 *
 * larft: the product V^T V, and the same inversion (Joffrain et al. 2006).
 *
 * potrf_block: a kernel for 128 columns and the rows below them, of which a multiprocessor has a
 * strip, and one for what is right of them. Of a tile's 32 columns one warp makes one after the
 * other, in order: a reciprocal root, five operations that depend on it, a write and read of shared
 * memory, and an FMA for each column right of it, twice. The tiles right of these columns are
 * multiplied on one multiprocessor. An update of small rank k is k/32 products a tile, at the rate
 * of its own kernel, a tile a multiprocessor at a time.
 *
 * trsm_guard: every block reads both triangles, a thread with four loads on their way, and reduces
 * them to their largest magnitudes.
 *
 * Where the profile has the kernel as a surface (the block_kernel probe), the surface says how long
 * it takes, and all this what that time goes to. */
#include "cost_blocks.h"

#include "factor/kernels/blocks/block_kernels.h"

#include <math.h>

enum {
	TILE = 32,
	STEP = 128,
	WARP = 32,
	SCHEDULERS = 4,
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

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static double product(struct cost_reader *r, struct matrix a)
{
	double rate =
	        of(r, a, "gpu.fma.s.rate", "gpu.fma.d.rate") / cost_scalar(r, "gpu.sm.count");

	return 2.0 * TILE * TILE * TILE /
	       (rate * cost_surface1(r, "gpu.fma.fed.lane", "width", 16));
}

double cost_issue(struct cost_reader *r, struct matrix a)
{
	double rate =
	        of(r, a, "gpu.fma.s.rate", "gpu.fma.d.rate") / cost_scalar(r, "gpu.sm.count");

	return 2.0 * WARP * SCHEDULERS / rate;
}

/* A step waits for a product and a read of shared memory and goes through the rows that are left.
 */
static double solve(struct cost_reader *r, struct matrix a)
{
	return TILE * (2 * of(r, a, "gpu.fma.s.latency", "gpu.fma.d.latency") +
	                      cost_scalar(r, "gpu.shared.latency") + TILE / 2 * cost_issue(r, a));
}

/* What comes and goes between L2 and one multiprocessor. */
static double through(struct cost_reader *r, double bytes)
{
	return bytes / cost_scalar(r, "gpu.sm.l2_read") + cost_scalar(r, "gpu.l2.latency");
}

struct cost cost_as_measured(struct cost cost, double seconds)
{
	double launch = fmin(seconds, cost.term[TERM_LAUNCH]), rest = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		rest += t == TERM_LAUNCH ? 0 : cost.term[t];
	for (int t = 0; t < TERM_COUNT; t++)
		cost.term[t] *= rest > 0 ? (seconds - launch) / rest : 0;
	cost.term[TERM_LAUNCH] = rest > 0 ? launch : seconds;
	return cost;
}

/* A kernel on n x n. */
static struct cost kernel_of_order(struct cost_reader *r, struct cost estimated, struct matrix a,
        const char *single, const char *twice)
{
	const char *name = a.precision == SINGLE ? single : twice;

	return cost_known(r, name)
	               ? cost_as_measured(estimated, cost_surface1(r, name, "n", (double)a.n))
	               : estimated;
}

struct cost cost_both(struct cost first, struct cost second)
{
	first.enqueue += second.enqueue;
	for (int t = 0; t < TERM_COUNT; t++)
		first.term[t] += second.term[t];
	first.share = fmax(first.share, second.share);
	first.further += 1 + second.further;
	return first;
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
	return kernel_of_order(r, inversion(r, a), a, "gpu.trtri.s", "gpu.trtri.d");
}

struct cost cost_larft(struct cost_reader *r, struct matrix v)
{
	struct matrix t = {NULL, 0, v.n, v.n, v.n, v.precision};

	return cost_both(cost_gemm(r, TRANSPOSED, PLAIN, t, v.m),
	        kernel_of_order(r, inversion(r, t), t, "gpu.larft.s", "gpu.larft.d"));
}

static double potrf_column(struct cost_reader *r, struct matrix a)
{
	return of(r, a, "gpu.special.rsqrt.latency", "gpu.sqrt.d.latency") +
	       5 * of(r, a, "gpu.fma.s.latency", "gpu.fma.d.latency") +
	       cost_scalar(r, "gpu.shared.latency") + TILE * cost_issue(r, a);
}

/* The kernel goes through one of three inner dimensions. Behind an event it takes no longer than
 * the full rounds that were measured behind one another (H200, us, fp64, 128 columns by 128, rows
 * 128, 512, 1024, 1152, 1664: behind one another 2.8 3.5 5.1 5.5 5.7, behind events 4.2 4.5 5.0 5.9
 * 6.5; fp32 2.7 3.1 4.7 4.9 5.1 and 4.1 4.2 4.4 5.5 5.6), so that it is not launched `early`. */
static struct cost rank_as_measured(struct cost_reader *r, struct cost cost,
        enum precision precision, double turns, int64_t k)
{
	static const char *const axes[] = {"rounds", "k"};
	const char *name = precision == SINGLE ? "gpu.rank.s" : "gpu.rank.d";
	double deep = BLOCK_RANK_MAX;

	while (deep > BLOCK_RANK_HELD / 2 && (double)k <= deep / 2)
		deep /= 2;
	const double at[] = {turns, deep};

	if (!cost_known(r, name))
		return cost;
	return cost_as_measured(cost, cost_surface(r, name, axes, at, 2));
}

/* Of 32 x 32 by 32 in an update of small rank: in single precision a multiply-add takes half a word
 * from shared memory, of those that are fed from there (gpu.fma.fed.lane) a whole one; in double
 * precision it is the tensor cores'. */
static double rank_product(struct cost_reader *r, struct matrix c)
{
	static const char *const cores = "gpu.mma.d16.rate";

	if (c.precision == SINGLE || !cost_known(r, cores))
		return product(r, c) / 2;
	return 2.0 * TILE * TILE * TILE * cost_scalar(r, "gpu.sm.count") / cost_scalar(r, cores);
}

struct cost cost_rank(struct cost_reader *r, struct matrix c, int64_t k)
{
	struct cost cost = cost_kernel(r);
	int64_t n = c.m < c.n ? c.m : c.n, rows = c.m + c.n - n;
	double tiles = (double)block_rank_tiles(rows, n);
	double turns = ceil(tiles / cost_scalar(r, "gpu.sm.count"));
	double operands = 2 * word_of(c) * TILE * (double)k;

	cost.share = cost_share(r, tiles / BLOCK_RANK_RESIDENT);
	cost.term[TERM_ARITHMETIC] = turns * (double)k / TILE * rank_product(r, c);
	cost.term[TERM_MEMORY] =
	        through(r, turns * operands) +
	        cost_surface_traffic(r, "gpu.copy.time", 2 * word_of(c) * TILE * TILE * tiles);
	return rank_as_measured(r, cost, c.precision, turns, k);
}

/* The blocks of threads of such kernels. A profile without their shared memory has them as many
 * rows as they like. */
struct potrf_blocks {
	double multiprocessors, shared;
	int word, most;
};

static struct potrf_blocks potrf_blocks_of(struct cost_reader *r, struct matrix a, bool beside)
{
	static const char *const room = "gpu.shared.per_block";
	const double multiprocessors = cost_scalar(r, "gpu.sm.count");

	return (struct potrf_blocks){.multiprocessors = multiprocessors,
	        .shared = cost_known(r, room) ? cost_scalar(r, room) : INT32_MAX,
	        .word = (int)word_of(a),
	        .most = (int)multiprocessors / (beside ? BLOCK_POTRF_BESIDE : 1)};
}

static int potrf_strip(const struct potrf_blocks *b, double width, double below)
{
	return block_potrf_strip((int)width, (int64_t)below, b->word, b->most, (int64_t)b->shared);
}

/* Of a kernel's blocks, at: its columns and the rows below them. */
static double potrf_rounds(const double *at, const void *self)
{
	const struct potrf_blocks *b = self;
	const double strips = ceil(at[1] / potrf_strip(b, fmin(at[0], STEP), at[1]));

	return fmax(1, ceil(strips / b->multiprocessors));
}

/* The first columns of a trapezoid of `rows` rows of which n columns are left, and the update of
 * the others. */
static struct cost potrf_step(
        struct cost_reader *r, struct matrix a, int64_t rows, int64_t n, bool beside)
{
	struct cost cost = cost_kernel(r);
	int64_t width = n < STEP ? n : STEP, below = rows - width;
	const struct potrf_blocks blocks = potrf_blocks_of(r, a, beside);
	const double at[] = {(double)width, (double)below}, turns = potrf_rounds(at, &blocks);
	int strip = potrf_strip(&blocks, at[0], at[1]);
	double strips = ceil((double)below / strip);
	double tiles = ceil((double)width / TILE);
	double solved = below ? (double)strip / TILE * tiles * (tiles - 1) / 2 : 0;
	double words = (double)width * ((double)width / 2 + (below ? strip : 0));

	cost.apart = cost.early = true;
	cost.share = cost_share(r, fmax(1, strips / turns));
	cost.term[TERM_BARRIER] = turns * (double)width * potrf_column(r, a);
	cost.term[TERM_ARITHMETIC] =
	        turns * ((tiles - 1) * tiles * (tiles + 1) / 6 + solved) * product(r, a);
	cost.term[TERM_MEMORY] = turns * 2 * through(r, word_of(a) * words);
	if (n == width)
		return cost;
	struct matrix right = {NULL, 0, below, n - width, below, a.precision};
	return cost_both(cost, cost_rank(r, right, width));
}

/* Rows below that take as long: all that strips of their height have room for, where that is more
 * than a tile. */
static double potrf_filled(const double *at, const struct potrf_blocks *b)
{
	const int strip = potrf_strip(b, at[0], at[1]);

	return strip == TILE ? at[1] : strip * b->multiprocessors * potrf_rounds(at, b);
}

/* With nothing below, the surface of that; else the one of blocks with rows below, of which a
 * kernel takes whole rounds of strips (H200, beside products of Cholesky of 16384 in fp32 40 us
 * from 5000 to 15000 rows, in fp64 alone 65 above 8448, 36 below; Cholesky of 20000 by 3xFP16
 * without look-ahead 35 us from 16400 down to 8500 rows, 28 below). */
static struct cost potrf_as_measured(struct cost_reader *r, struct cost cost, struct matrix a,
        int64_t n, int64_t below, bool beside)
{
	static const char *const axes[] = {"n", "below"};
	static const char *const names[2][2] = {{"gpu.potrf_rows.d", "gpu.potrf_rows_overlapped.d"},
	        {"gpu.potrf_rows.s", "gpu.potrf_rows_overlapped.s"}};
	static const struct beside_surface shared = {
	        {"gpu.potrf_rows_shared.s", "gpu.potrf_rows_shared.d"}, {"n", "below"}};
	const double at[] = {(double)n, (double)below};
	bool single = a.precision == SINGLE, few = beside && cost_known(r, names[single][1]);
	const char *name = names[single][few];

	if (below == 0)
		return kernel_of_order(r, cost, matrix_view(a, 0, 0, n, n), "gpu.potrf_block.s",
		        "gpu.potrf_block.d");
	const bool known = cost_known(r, name);
	if (known)
		cost = cost_as_measured(cost, cost_surface(r, name, axes, at, 2));
	cost.beside = cost_beside(r, &cost, a.precision, &shared, at);
	if (!known || n > STEP)
		return cost;
	const struct potrf_blocks blocks = potrf_blocks_of(r, a, beside);
	const double filled[] = {at[0], beside ? at[1] : potrf_filled(at, &blocks)};
	return cost_as_measured(
	        cost, cost_surface(r, name, axes, filled, 2) *
	                       cost_along(r, name, axes, filled, 2, potrf_rounds, &blocks));
}

struct cost cost_potrf_block(struct cost_reader *r, struct matrix a, bool beside)
{
	int64_t n = a.m < a.n ? a.m : a.n, rows = a.m + a.n - n;
	struct cost cost = potrf_step(r, a, rows, n, beside);

	for (int64_t done = STEP; done < n; done += STEP)
		cost = cost_both(cost, potrf_step(r, a, rows - done, n - done, beside));
	return potrf_as_measured(r, cost, a, n, rows - n, beside);
}

struct cost cost_trsm_guard(struct cost_reader *r, struct matrix triangle, int64_t columns)
{
	struct cost cost = cost_kernel(r);
	double loads = 2 * (double)triangle.n * (double)triangle.n / GUARD_THREADS;

	cost.share = cost_share(r, fmin(GUARD_BLOCKS, ceil((double)columns / GUARD_SIDES)));
	cost.term[TERM_BARRIER] =
	        2 * cost_surface1(r, "gpu.reduce.max", "threads", GUARD_THREADS) +
	        loads / GUARD_LOADS * cost_scalar(r, "gpu.l2.latency");
	return kernel_of_order(r, cost, triangle, "gpu.trsm_guard.s", "gpu.trsm_guard.d");
}
