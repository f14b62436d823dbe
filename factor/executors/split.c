/* SPDX-License-Identifier: MIT */
#include "split.h"

#include "split_operands.h"

#include "lib/base/msg.h"

/* Rows and columns of the blocks on the diagonal of a symmetric update. */
enum { DIAGONAL = 256 };

bool split_check(struct executor *e)
{
	return math_possible(e, e->math) ||
	       fault_refuse(
	               &e->fault, e->math == MATH_3XFP16
	                                  ? "no 3xFP16 here: it needs compute capability 9.0 and "
	                                    "a build for it (GPU_ARCHS=90a)"
	                                  : "no TF32 here: 3xTF32 needs compute capability 8.0");
}

/* ---- products ---- */

static enum trans other(enum trans trans)
{
	return trans == PLAIN ? TRANSPOSED : PLAIN;
}

static bool aligned(struct matrix a, int64_t to)
{
	return a.ld * precision_bytes(a.precision) % to == 0 &&
	       (intptr_t)matrix_address(a) % to == 0;
}

/* What every product of split operands needs. */
static bool possible(const struct executor *e, struct matrix c, int64_t k)
{
	const struct split_limits *least = e->splits;

	return e->split.bytes > 0 && e->queue == QUEUE_MAIN && c.precision == SINGLE &&
	       aligned(c, least->alignment) && k >= least->depth && c.m >= least->side &&
	       c.n >= least->side &&
	       split_piece_bytes(e->split.stack, c.m) + split_piece_bytes(e->split.stack, c.n) <=
	               e->split.bytes;
}

bool split_wanted_tall(const struct executor *e, struct matrix v, struct matrix c, struct matrix p)
{
	enum { TALL = 4 }; /* times as many rows as columns of V */
	const struct split_limits *least = e->splits;

	return e->split.bytes > 0 && p.precision == SINGLE && v.m >= TALL * v.n &&
	       v.n <= least->tall && c.n >= least->across &&
	       2.0 * (double)v.m * (double)v.n * (double)c.n >= least->flops &&
	       aligned(v, least->alignment) && aligned(c, least->alignment);
}

bool split_wanted(const struct executor *e, enum trans ta, enum trans tb, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	bool a_kept = split_is_kept(e, a, other(ta), split_kind_of(e, TF32_LEFT));
	bool b_kept = split_is_kept(e, b, tb, split_kind_of(e, TF32_RIGHT));
	double flops = 2.0 * (double)c.m * (double)c.n * (double)split_depth(b, tb);

	return (!split_in_halves(e) || beta == 1) && possible(e, c, split_depth(b, tb)) &&
	       flops >= e->splits->flops && (a_kept || c.n >= e->splits->use) &&
	       (b_kept || c.m >= e->splits->use);
}

/* C = alpha A^T B + beta C of stacks, or of pairs with beta = 1. */
static bool multiply(struct executor *e, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c, struct products products)
{
	return split_in_halves(e) ? e->ops->half_update(e, WHOLE, alpha, a, b, c)
	                          : e->ops->gemm_tf32(e, alpha, a, b, beta, c, products);
}

/* Stacks of the piece from k on. */
static bool operands(struct executor *e, enum trans ta, enum trans tb, struct matrix a,
        struct matrix b, struct matrix c, int64_t k, struct matrix *left, struct matrix *right)
{
	struct splits off = {.count = 0};

	return split_operand(e, a, other(ta), split_kind_of(e, TF32_LEFT), k, 0, &off, left) &&
	       split_operand(e, b, tb, split_kind_of(e, TF32_RIGHT), k,
	               split_piece_bytes(e->split.stack, c.m), &off, right) &&
	       split_make(e, &off);
}

bool split_ready(struct executor *e, enum trans ta, enum trans tb, struct matrix a, struct matrix b,
        struct matrix c)
{
	struct matrix left, right;

	if (!split_wanted(e, ta, tb, a, b, 1, c))
		return true;
	bool a_kept = split_is_kept(e, a, other(ta), split_kind_of(e, TF32_LEFT));
	bool ok = operands(e, ta, tb, a, b, c, 0, &left, &right);
	e->split.ready = a_kept ? b : a;
	return ok;
}

bool split_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	static const struct products one = {.count = 1};
	struct matrix left, right;
	bool ok = true;

	for (int64_t k = 0; ok && k < split_depth(b, tb); k += TF32_PIECE)
		ok = operands(e, ta, tb, a, b, c, k, &left, &right) &&
		     multiply(e, alpha, left, right, k ? 1 : beta, c, one);
	e->split.ready = (struct matrix){0};
	return ok;
}

/* ---- symmetric updates ---- */

/* C += alpha A^T A by one piece of the sum, for a lower triangle or an upper one. */
struct update {
	struct executor *e;
	bool lower;
	double alpha;
	struct matrix left, right; /* stacks of all columns of A */
};

/* Blocks of C, or with `aside` of a row of blocks: the first has rows i .. and columns j .. of the
 * lower triangle (or mirrored) and is m x n; each other block is `step` rows and columns further.
 */
static bool blocks(const struct update *u, int64_t i, int64_t j, int64_t m, int64_t n,
        int64_t count, int64_t step, double beta, struct matrix c, bool side_queue)
{
	struct matrix left = u->left, right = u->right, to;

	if (count == 0 || m == 0 || n == 0)
		return true;
	if (count > 1 && n >= u->e->splits->together)
		return blocks(u, i, j, m, n, 1, 0, beta, c, side_queue) &&
		       blocks(u, i + step, j + step, m, n, count - 1, step, beta, c, side_queue);
	left = matrix_view(left, 0, u->lower ? i : j, left.m, u->lower ? m : n);
	right = matrix_view(right, 0, u->lower ? j : i, right.m, u->lower ? n : m);
	to = side_queue ? matrix_view(c, 0, j, m, n)
	     : u->lower ? matrix_view(c, i, j, m, n)
	                : matrix_view(c, j, i, n, m);
	return multiply(u->e, u->alpha, left, right, beta, to,
	        (struct products){count, step * left.ld, step * right.ld,
	                step * (side_queue ? c.ld : c.ld + 1)});
}

/* The blocks on the diagonal, side by side in `row`. */
static bool on_diagonal(const struct update *u, double beta, struct matrix row)
{
	int64_t w = row.m, whole = row.n / w * w, rest = row.n - whole;

	return blocks(u, 0, 0, w, w, row.n / w, w, beta, row, true) &&
	       blocks(u, whole, whole, rest, rest, 1, 0, beta, row, true);
}

/* The part behind the blocks on the diagonal: squares of their width, of twice the width, and so
 * on, and after each kind a narrower rest; then the rows below the triangle. Rows that a product's
 * rows do not divide are made at once. */
static bool behind_diagonal(const struct update *u, int64_t w, struct matrix c)
{
	int64_t n = min_int64(c.m, c.n), rows = max_int64(c.m, c.n);
	int64_t whole = u->lower ? n - n % TF32_ROWS : n;
	bool ok = true;

	for (int64_t s = w; ok && s < n; s *= 2) {
		int64_t count = n / (2 * s), j = 2 * s * count;
		ok = blocks(u, s, 0, s, s, count, 2 * s, 1, c, false) &&
		     (whole - j <= s || blocks(u, j + s, j, whole - j - s, s, 1, 0, 1, c, false));
	}
	return ok && blocks(u, whole, 0, n - whole, (n - 1) / w * w, 1, 0, 1, c, false) &&
	       blocks(u, n, 0, rows - n, n, 1, 0, 1, c, false);
}

bool split_wanted_syrk(const struct executor *e, enum trans trans, struct matrix a, struct matrix c)
{
	int64_t n = min_int64(c.m, c.n), k = split_depth(a, other(trans));
	double flops = (double)n * (double)(2 * max_int64(c.m, c.n) - n) * (double)k;

	return possible(e, c, k) &&
	       flops >= (split_in_halves(e) ? e->splits->half_symmetric : e->splits->symmetric) &&
	       split_is_kept(e, a, other(trans), split_kind_of(e, TF32_BOTH));
}

bool split_prepare(struct executor *e, enum trans trans, struct matrix a, struct matrix c)
{
	struct splits off = {.count = 0};

	return !split_wanted_syrk(e, trans, a, c) ||
	       (split_make_kept(e, &off) && split_make(e, &off));
}

/* By 3xFP16. */
static bool update_in_halves(struct executor *e, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, struct matrix c)
{
	struct splits off = {.count = 0};
	struct matrix pair;
	bool ok = true;

	for (int64_t k = 0; ok && k < split_depth(a, trans); k += TF32_PIECE)
		ok = split_operand(e, a, trans, HALF_PAIR, k, 0, &off, &pair) &&
		     split_make(e, &off) && e->ops->half_update(e, uplo, alpha, pair, pair, c);
	return ok;
}

bool split_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        struct matrix c)
{
	enum trans down = other(trans);
	struct update u = {.e = e, .lower = uplo == LOWER, .alpha = alpha};
	int64_t n = min_int64(c.m, c.n), w = min_int64(n, DIAGONAL);
	struct matrix row = {e->split.data, 0, w, n, w, SINGLE};
	struct splits off = {.count = 0};
	bool ok = true;

	if (split_in_halves(e))
		return update_in_halves(e, uplo, down, alpha, a, c);
	for (int64_t k = 0; ok && k < split_depth(a, down); k += TF32_PIECE)
		ok = split_operand(e, a, down, TF32_LEFT, k, 0, &off, &u.left) &&
		     split_operand(e, a, down, TF32_RIGHT, k, 0, &off, &u.right) &&
		     split_make(e, &off) && on_diagonal(&u, k ? 1 : 0, row) &&
		     behind_diagonal(&u, w, c);
	return ok && e->ops->add_triangles(e, uplo, row, matrix_view(c, 0, 0, n, n));
}

/* ---- updates in stairs ---- */

bool split_wanted_stairs(
        const struct executor *e, struct stairs stairs, struct matrix a, struct matrix c)
{
	const double flops = 2 * stairs_elements(stairs, c.m, c.n) * (double)a.n;

	return split_in_halves(e) && possible(e, c, a.n) && flops >= e->splits->half_symmetric &&
	       split_is_kept(e, a, TRANSPOSED, HALF_PAIR);
}

bool split_stairs(struct executor *e, struct stairs stairs, double alpha, struct matrix a,
        struct matrix b, struct matrix c)
{
	struct matrix left, right;
	bool ok = true;

	for (int64_t k = 0; ok && k < a.n; k += TF32_PIECE)
		ok = operands(e, PLAIN, TRANSPOSED, a, b, c, k, &left, &right) &&
		     e->ops->half_stairs(e, stairs, alpha, left, right, c);
	return ok;
}
