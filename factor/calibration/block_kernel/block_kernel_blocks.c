/* SPDX-License-Identifier: MIT */
/* Kernels of diagonal blocks and triangles, and products of small rank: trapezoids of 128 columns
 * whose number of tiles fills whole rounds on all multiprocessors. Split operands of a product: a
 * left one that is transposed and a right one that is not, as an update has them. */
#include "block_kernel_internal.h"

#include "factor/kernels/gemm/half_pair.h"
#include "factor/kernels/gemm/tf32.h"

enum {
	FEWEST_BELOW = 32,  /* rows below a block of Cholesky */
	TILES_BELOW = 8192, /* from here on strips have several tiles, and one more costs much */
	MOST_BELOW = 32768,
	RANK_COLUMNS = 128,
	RANK_TILE = 32,
	RANK_ROUNDS = 16,  /* at most */
	SPLIT_FROM = 1024, /* columns of each operand */
	SPLIT_TO = 16384,
	SPLIT_DEPTH = 64
};

static struct matrix inverse(const struct bench *b)
{
	return block_kernel_matrix(b, b->inverse, b->n, b->n);
}

/* ---- diagonal blocks of Cholesky: nearly the identity, which they remain ---- */

int block_kernel_potrf(struct bench *b)
{
	const struct block_room room = {
	        b->rate.gpu.shared_per_block, b->rate.gpu.sm_count / b->kernel->form, b->readers};

	return block_potrf(LOWER, block_kernel_matrix(b, b->pool, b->m, b->n), 0, b->info, &room,
	        b->rate.stream);
}

static void fill_corner(struct bench *b)
{
	b->m = b->n;
	block_kernel_fill_identity(b);
}

static void fill_rows(struct bench *b)
{
	b->m = b->n + b->below;
	block_kernel_fill_identity(b);
}

static int64_t more_below(const struct bench *b, int64_t below)
{
	return below < TILES_BELOW ? 2 * b->narrow * below : b->narrow * below;
}

/* ---- triangles ---- */

static void fill_triangle(struct bench *b)
{
	GPU(block_fill(
	        WHOLE, block_kernel_little, 1, block_kernel_triangle(b, b->n), b->rate.stream));
	GPU(block_fill(WHOLE, 0, 1, inverse(b), b->rate.stream));
	GPU(block_fill(WHOLE, 1, 1, block_kernel_matrix(b, b->tau, b->n, 1), b->rate.stream));
}

/* Right-hand sides for all blocks of threads, which leave them alone: the inverse is good. */
static int guard(struct bench *b)
{
	const struct matrix sides = block_kernel_matrix(b, b->pool, b->n, BLOCK_KERNEL_WIDEST);

	return block_trsm_guard(LEFT, LOWER, PLAIN, NON_UNIT, block_kernel_triangle(b, b->n),
	        inverse(b), 1e3, sides, sides, b->rate.stream);
}

static int larft(struct bench *b)
{
	return block_larft(block_kernel_triangle(b, b->n), block_kernel_matrix(b, b->tau, b->n, 1),
	        inverse(b), b->rate.gpu.shared_per_block, b->rate.stream);
}

static int trtri(struct bench *b)
{
	return block_trtri(LOWER, NON_UNIT, block_kernel_triangle(b, b->n), inverse(b),
	        b->rate.gpu.shared_per_block, b->rate.stream);
}

/* ---- products of small rank ---- */

static int rank(struct bench *b)
{
	return block_rank(LOWER, -1, b->x, 1, b->c, NULL, b->rate.stream);
}

/* The most rows with at most this many rounds of tiles. */
static void fill_rank(struct bench *b)
{
	const int64_t tiles = b->rounds * b->rate.gpu.sm_count;

	b->m = RANK_COLUMNS;
	while (block_rank_tiles(b->m + RANK_TILE, RANK_COLUMNS) <= tiles)
		b->m += RANK_TILE;
	b->x = block_kernel_place(b, b->m, b->k);
	b->c = block_kernel_place(b, b->m, RANK_COLUMNS);
	block_kernel_fill_random(b, b->x, 1);
	block_kernel_fill_random(b, b->c, 1);
}

static int64_t more_rounds(const struct bench *b, int64_t rounds)
{
	return rounds < 4 ? rounds + b->narrow / 2 : rounds * b->narrow;
}

void block_kernel_blocks(struct bench *b)
{
	const struct range n = {"n", &b->n, BLOCK_KERNEL_NARROWEST, BLOCK_POTRF_MAX, b->narrow,
	                           NULL},
	                   below = {"below", &b->below, FEWEST_BELOW, MOST_BELOW, 0, more_below},
	                   order = {"n", &b->n, BLOCK_KERNEL_NARROWEST, BLOCK_TRTRI_MAX, b->narrow,
	                           NULL},
	                   rounds = {"rounds", &b->rounds, 1, RANK_ROUNDS, 0, more_rounds},
	                   k = {"k", &b->k, BLOCK_RANK_HELD / 2, BLOCK_RANK_MAX, 2, NULL};
	const struct kernel kernels[] = {{"potrf", block_kernel_potrf, fill_corner,
	                                         block_kernel_info_is_clear, {n}, .form = 1},
	        {"potrf_rows", block_kernel_potrf, fill_rows, block_kernel_info_is_clear,
	                {n, below}, .form = 1},
	        {"potrf_rows_overlapped", block_kernel_potrf, fill_rows, block_kernel_info_is_clear,
	                {n, below}, .form = BLOCK_POTRF_BESIDE},
	        {"rank", rank, fill_rank, NULL, {rounds, k}, .has = NULL},
	        {"guard", guard, fill_triangle, NULL, {order}, .has = NULL},
	        {"larft", larft, fill_triangle, NULL, {order}, .has = NULL},
	        {"trtri", trtri, fill_triangle, NULL, {order}, .has = NULL}};

	block_kernel_measure(b, kernels, ARRAY_LEN(kernels));
}

/* ---- split operands ---- */

static int split(struct bench *b)
{
	const bool half = b->kernel->form == HALF_PAIR;
	const int64_t rows = half ? half_rows(b->k) : tf32_slots(TF32_LEFT) * b->k, n = b->n;
	const struct matrix left = block_kernel_matrix(b, b->x.data, n, b->k),
	                    right = block_kernel_matrix(b, b->x.data, b->k, n);
	struct matrix to = block_kernel_matrix(b, b->c.data, rows, n), second = to;
	second.offset = rows * n;
	const struct splits splits = {
	        {{left, TRANSPOSED, half ? HALF_PAIR : TF32_LEFT, to},
	                {right, PLAIN, half ? HALF_PAIR : TF32_RIGHT, second}},
	        2};

	return half ? half_pair(&splits, b->rate.stream) : tf32_split(&splits, b->rate.stream);
}

static void fill_operands(struct bench *b)
{
	b->x = block_kernel_place(b, b->n, b->k);
	b->c = block_kernel_place(
	        b, 2 * max_int64(half_rows(b->k), tf32_slots(TF32_LEFT) * b->k), b->n);
	block_kernel_fill_random(b, b->x, 1);
}

void block_kernel_splits(struct bench *b)
{
	const struct range n = {"n", &b->n, SPLIT_FROM, SPLIT_TO, b->narrow, NULL},
	                   k = {"k", &b->k, SPLIT_DEPTH, TF32_PIECE, 2, NULL};
	const struct kernel kernels[] = {
	        {"tf32_split", split, fill_operands, NULL, {n, k}, .form = TF32_LEFT},
	        {"half_pair", split, fill_operands, NULL, {n, k}, .form = HALF_PAIR}};

	block_kernel_measure(b, kernels, ARRAY_LEN(kernels));
}
