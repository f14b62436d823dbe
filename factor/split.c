/* SPDX-License-Identifier: MIT */
#include "split.h"

#include "schedule.h"

#include "../lib/msg.h"

/* Smaller products are quicker in fp32: they are over before the operands are split. So are those
 * that read a fresh stack for less than LEAST_USE rows or columns of C. */
enum { LEAST_SIDE = 256, LEAST_DEPTH = 64, LEAST_USE = 512 };

/* Rows and columns of the blocks on the diagonal of a symmetric update. */
enum { DIAGONAL = 256 };

enum { ROWS_APART = 32, DEPTH_APART = 4, ROOM_APART = 256 };

static int64_t up(int64_t n, int64_t to)
{
	return (n + to - 1) / to * to;
}

/* Of a stack with `side` rows or columns and an inner dimension of k. */
static int64_t stack_bytes(enum tf32_stack stack, int64_t side, int64_t k)
{
	return up(tf32_slots(stack) * up(side, ROWS_APART) * up(k, DEPTH_APART) *
	                  precision_bytes(SINGLE),
	        ROOM_APART);
}

static int64_t depth(struct matrix a, bool down)
{
	return down ? a.m : a.n;
}

static int64_t side(struct matrix a, bool down)
{
	return down ? a.n : a.m;
}

struct split_room split_carve(const struct executor *e, struct carver *carver, int64_t m, int64_t n,
        struct matrix kept, enum tf32_stack stack, bool down)
{
	struct split_room room = {.stack = stack, .down = down};

	if (e->math != MATH_3XTF32 || kept.precision != SINGLE)
		return room;
	room.bytes = stack_bytes(TF32_LEFT, m, TF32_PIECE) + stack_bytes(TF32_RIGHT, n, TF32_PIECE);
	room.data = carve_bytes(carver, room.bytes);
	room.kept_bytes = stack_bytes(stack, side(kept, down), depth(kept, down));
	room.kept_data = carve_bytes(carver, room.kept_bytes);
	return room;
}

bool split_check(struct executor *e)
{
	return e->math == MATH_FP32 || e->tf32 ||
	       fault_set(&e->fault, "no TF32 here: 3xTF32 needs compute capability 8.0");
}

void split_keep(struct executor *e, struct matrix a)
{
	e->split.kept = a;
	e->split.made = false;
}

/* ---- stacks ---- */

/* The part of a with the inner dimension's elements from k on. */
static struct matrix piece_of(struct matrix a, bool down, int64_t k)
{
	int64_t n = smaller(depth(a, down) - k, TF32_PIECE);

	return down ? matrix_view(a, k, 0, n, a.n) : matrix_view(a, 0, k, a.m, n);
}

/* Of an operand, `slots` deep, at a byte of the room. */
static struct matrix stack_at(void *data, int64_t byte, struct matrix piece, bool down, int slots)
{
	int64_t deep = slots * up(depth(piece, down), DEPTH_APART);
	struct matrix stack = {data, byte / precision_bytes(SINGLE), piece.m, deep,
	        up(piece.m, ROWS_APART), SINGLE};

	return down ? (struct matrix){data, stack.offset, deep, piece.n, deep, SINGLE} : stack;
}

/* Where a lies in what is kept, along the side: -1 when it doesn't, with all of its depth. */
static int64_t place_in_kept(
        const struct split_room *room, struct matrix a, bool down, enum tf32_stack stack)
{
	struct matrix kept = room->kept;
	int64_t from = a.offset - kept.offset, at = down ? from / a.ld : from;
	bool useful = down == room->down && (stack == room->stack || room->stack == TF32_BOTH);
	bool within = a.data == kept.data && a.ld == kept.ld && from >= 0 &&
	              (!down || from % a.ld == 0) && depth(a, down) == depth(kept, down) &&
	              at + side(a, down) <= side(kept, down);

	return useful && within &&
	                       stack_bytes(room->stack, side(kept, down), depth(kept, down)) <=
	                               room->kept_bytes
	               ? at
	               : -1;
}

/* The kept operand's stack of the piece from k on. */
static struct matrix kept_stack(const struct split_room *room, int64_t k)
{
	int slots = tf32_slots(room->stack);
	int64_t before = stack_bytes(room->stack, side(room->kept, room->down), k);

	return stack_at(
	        room->kept_data, before, piece_of(room->kept, room->down, k), room->down, slots);
}

static bool make_kept(struct executor *e)
{
	struct split_room *room = &e->split;
	bool ok = true;

	for (int64_t k = 0; ok && !room->made && k < depth(room->kept, room->down); k += TF32_PIECE)
		ok = e->ops->split(e, piece_of(room->kept, room->down, k), room->stack, room->down,
		        kept_stack(room, k));
	room->made = ok;
	return ok;
}

/* The part of the kept stack that a piece of a, `at` along the side, is. */
static struct matrix part_of_kept(const struct split_room *room, struct matrix a,
        enum tf32_stack stack, int64_t at, int64_t k)
{
	struct matrix all = kept_stack(room, k);
	int64_t slots = tf32_slots(room->stack), slot = depth(all, room->down) / slots;
	int64_t first = room->stack == TF32_BOTH && stack == TF32_LEFT ? slot : 0;

	return room->down ? matrix_view(all, first, at, tf32_slots(stack) * slot, a.n)
	                  : matrix_view(all, at, first, a.m, tf32_slots(stack) * slot);
}

/* The stack of a's piece from k on, made at that byte of the room unless there is one. */
static bool operand(struct executor *e, struct matrix a, bool down, enum tf32_stack stack,
        int64_t k, int64_t byte, struct matrix *out)
{
	struct matrix piece = piece_of(a, down, k);
	int64_t at = place_in_kept(&e->split, a, down, stack);

	if (at >= 0) {
		bool ok = make_kept(e);
		*out = part_of_kept(&e->split, a, stack, at, k);
		return ok;
	}
	*out = stack_at(e->split.data, byte, piece, down, tf32_slots(stack));
	return e->ops->split(e, piece, stack, down, *out);
}

/* ---- products ---- */

static const struct products one = {.count = 1};

/* Of all that is made here. */
static bool possible(const struct executor *e, struct matrix c, int64_t k)
{
	return e->split.bytes > 0 && e->queue == QUEUE_MAIN && c.precision == SINGLE &&
	       k >= LEAST_DEPTH &&
	       stack_bytes(TF32_LEFT, c.m, TF32_PIECE) + stack_bytes(TF32_RIGHT, c.n, TF32_PIECE) <=
	               e->split.bytes;
}

bool split_wanted(const struct executor *e, enum trans ta, enum trans tb, struct matrix a,
        struct matrix b, struct matrix c)
{
	bool a_kept = place_in_kept(&e->split, a, ta == TRANSPOSED, TF32_LEFT) >= 0;
	bool b_kept = place_in_kept(&e->split, b, tb == PLAIN, TF32_RIGHT) >= 0;

	return possible(e, c, ta == PLAIN ? a.n : a.m) &&
	       c.n >= (a_kept ? LEAST_SIDE : LEAST_USE) && c.m >= (b_kept ? LEAST_SIDE : LEAST_USE);
}

bool split_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	int64_t depth_all = ta == PLAIN ? a.n : a.m, byte = stack_bytes(TF32_LEFT, c.m, TF32_PIECE);
	struct matrix left, right;
	bool ok = true;

	for (int64_t k = 0; ok && k < depth_all; k += TF32_PIECE)
		ok = operand(e, a, ta == TRANSPOSED, TF32_LEFT, k, 0, &left) &&
		     operand(e, b, tb == PLAIN, TF32_RIGHT, k, byte, &right) &&
		     e->ops->gemm_tf32(e, ta, tb, alpha, left, right, k ? 1 : beta, c, one);
	return ok;
}

/* ---- symmetric updates ---- */

/* C += alpha op(A) op(A)^T by one piece of the sum. */
struct update {
	struct executor *e;
	enum uplo uplo;
	enum trans trans;
	double alpha;
	struct matrix left, right; /* stacks of all rows of op(A) */
};

/* Rows i .. i+n-1 of op(A), and how far the next row is. */
static struct matrix rows_of(enum trans trans, struct matrix a, int64_t i, int64_t n)
{
	return trans == PLAIN ? matrix_view(a, i, 0, n, a.n) : matrix_view(a, 0, i, a.m, n);
}

static int64_t row_step(enum trans trans, struct matrix a)
{
	return trans == PLAIN ? 1 : a.ld;
}

/* Blocks of C, or with `aside` of a row of blocks: the first is that of rows i .. and columns j ..
 * of the lower triangle (or mirrored), m x n; the others lie `step` rows and columns further. */
static bool blocks(const struct update *u, int64_t i, int64_t j, int64_t m, int64_t n,
        int64_t count, int64_t step, double beta, struct matrix c, bool aside)
{
	bool lower = u->uplo == LOWER;
	struct matrix left = rows_of(u->trans, u->left, lower ? i : j, lower ? m : n);
	struct matrix right = rows_of(u->trans, u->right, lower ? j : i, lower ? n : m);
	struct matrix to = aside   ? matrix_view(c, 0, j, m, n)
	                   : lower ? matrix_view(c, i, j, m, n)
	                           : matrix_view(c, j, i, n, m);
	struct products products = {count, step * row_step(u->trans, left),
	        step * row_step(u->trans, right), step * (aside ? c.ld : c.ld + 1)};

	return count == 0 || m == 0 || n == 0 ||
	       u->e->ops->gemm_tf32(u->e, u->trans, u->trans == PLAIN ? TRANSPOSED : PLAIN,
	               u->alpha, left, right, beta, to, products);
}

/* The blocks on the diagonal, side by side in `row`. */
static bool on_diagonal(const struct update *u, int64_t n, double beta, struct matrix row)
{
	int64_t w = row.m, whole = n / w * w;

	return blocks(u, 0, 0, w, w, n / w, w, beta, row, true) &&
	       blocks(u, whole, whole, n - whole, n - whole, 1, 0, beta, row, true);
}

/* What is behind the blocks on the diagonal: squares of their width, of twice that, and so on, and
 * of each kind what fits no more; then the rows below the triangle. */
static bool behind_diagonal(const struct update *u, int64_t w, struct matrix c)
{
	int64_t n = smaller(c.m, c.n), rows = larger(c.m, c.n);
	bool ok = true;

	for (int64_t s = w; ok && s < n; s *= 2) {
		int64_t count = n / (2 * s), j = 2 * s * count;
		ok = blocks(u, s, 0, s, s, count, 2 * s, 1, c, false) &&
		     (n - j <= s || blocks(u, j + s, j, n - j - s, s, 1, 0, 1, c, false));
	}
	return ok && blocks(u, n, 0, rows - n, n, 1, 0, 1, c, false);
}

bool split_wanted_syrk(const struct executor *e, enum trans trans, struct matrix a, struct matrix c)
{
	bool down = trans == TRANSPOSED;

	return possible(e, c, depth(a, down)) && smaller(c.m, c.n) >= LEAST_SIDE &&
	       place_in_kept(&e->split, a, down, TF32_LEFT) >= 0 &&
	       place_in_kept(&e->split, a, down, TF32_RIGHT) >= 0;
}

bool split_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        struct matrix c)
{
	bool down = trans == TRANSPOSED, ok = true;
	struct update u = {.e = e, .uplo = uplo, .trans = trans, .alpha = alpha};
	int64_t n = smaller(c.m, c.n), w = smaller(n, DIAGONAL);
	struct matrix row = {e->split.data, 0, w, n, w, SINGLE};

	for (int64_t k = 0; ok && k < depth(a, down); k += TF32_PIECE)
		ok = operand(e, a, down, TF32_LEFT, k, 0, &u.left) &&
		     operand(e, a, down, TF32_RIGHT, k, 0, &u.right) &&
		     on_diagonal(&u, n, k ? 1 : 0, row) && behind_diagonal(&u, w, c);
	return ok && e->ops->add_triangles(e, uplo, row, matrix_view(c, 0, 0, n, n));
}
