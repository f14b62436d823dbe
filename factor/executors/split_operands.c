/* SPDX-License-Identifier: MIT */
/* Where the stacks and pairs of operands lie, and which of them do not exist yet. */
#include "split_operands.h"

#include "split.h"

#include "factor/kernels/gemm/half_pair.h"

enum { DEPTH_APART = 4, ROOM_APART = 256 };

/* ---- room ---- */

static int64_t up(int64_t n, int64_t to)
{
	return (n + to - 1) / to * to;
}

bool split_in_halves(const struct executor *e)
{
	return e->split.stack == HALF_PAIR;
}

enum split_form split_kind_of(const struct executor *e, enum split_form stack)
{
	return split_in_halves(e) ? HALF_PAIR : stack;
}

/* Rows of the stack of a k x n operand. */
static int64_t stack_rows(enum split_form stack, int64_t k)
{
	return stack == HALF_PAIR ? half_rows(k) : tf32_slots(stack) * up(k, DEPTH_APART);
}

static int64_t stack_bytes(enum split_form stack, int64_t k, int64_t n)
{
	return up(stack_rows(stack, k) * n * precision_bytes(SINGLE), ROOM_APART);
}

int64_t split_piece_bytes(enum split_form stack, int64_t n)
{
	return stack_bytes(stack == HALF_PAIR ? stack : TF32_LEFT, TF32_PIECE, n);
}

/* Bytes of the stacks of all pieces of k x n. */
static int64_t pieces_bytes(enum split_form stack, int64_t k, int64_t n)
{
	return k / TF32_PIECE * stack_bytes(stack, TF32_PIECE, n) +
	       (k % TF32_PIECE ? stack_bytes(stack, k % TF32_PIECE, n) : 0);
}

int64_t split_depth(struct matrix a, enum trans trans)
{
	return trans == PLAIN ? a.m : a.n;
}

static int64_t side(struct matrix a, enum trans trans)
{
	return trans == PLAIN ? a.n : a.m;
}

struct split_room split_workspace(const struct executor *e, struct workspace *workspace, int64_t m,
        int64_t n, struct matrix kept, enum trans trans, enum split_form stack)
{
	struct split_room room = {
	        .trans = trans, .stack = e->math == MATH_3XFP16 ? HALF_PAIR : stack};

	if (e->math == MATH_FP32 || kept.precision != SINGLE)
		return room;
	room.bytes = split_piece_bytes(room.stack, m) + split_piece_bytes(room.stack, n);
	room.data = workspace_bytes(workspace, room.bytes);
	room.kept_bytes = pieces_bytes(room.stack, split_depth(kept, trans), side(kept, trans));
	room.kept_data = workspace_bytes(workspace, room.kept_bytes);
	return room;
}

void split_keep(struct executor *e, struct matrix a)
{
	e->split.kept = a;
	e->split.made = false;
}

void split_turn(struct executor *e, enum trans trans, enum split_form stack)
{
	e->split.trans = trans;
	if (!split_in_halves(e))
		e->split.stack = stack;
}

/* ---- stacks ---- */

/* Rows k .. of op(a), at most TF32_PIECE. */
static struct matrix piece_of(struct matrix a, enum trans trans, int64_t k)
{
	int64_t n = min_int64(split_depth(a, trans) - k, TF32_PIECE);

	return trans == PLAIN ? matrix_view(a, k, 0, n, a.n) : matrix_view(a, 0, k, a.m, n);
}

/* The stack of a piece, at a byte of the room. */
static struct matrix stack_at(
        void *data, int64_t byte, struct matrix piece, enum trans trans, enum split_form stack)
{
	int64_t deep = stack_rows(stack, split_depth(piece, trans));

	return (struct matrix){
	        data, byte / precision_bytes(SINGLE), deep, side(piece, trans), deep, SINGLE};
}

/* The column of op(kept) where op(a) begins, with all of its rows; -1 when a is no part of the kept
 * operand, or the kept stack has another form. */
static int64_t place_in_kept(
        const struct split_room *room, struct matrix a, enum trans trans, enum split_form stack)
{
	struct matrix kept = room->kept;
	if (!room->kept_bytes || a.data != kept.data || a.ld != kept.ld)
		return -1;

	int64_t from = a.offset - kept.offset, at = trans == PLAIN ? from / a.ld : from;
	bool useful = trans == room->trans && (stack == room->stack || room->stack == TF32_BOTH);
	bool within = from >= 0 && (trans == TRANSPOSED || from % a.ld == 0) &&
	              split_depth(a, trans) == split_depth(kept, trans) &&
	              at + side(a, trans) <= side(kept, trans);
	bool fits = within && pieces_bytes(room->stack, split_depth(kept, trans),
	                              side(kept, trans)) <= room->kept_bytes;

	return useful && fits ? at : -1;
}

bool split_is_kept(
        const struct executor *e, struct matrix a, enum trans trans, enum split_form stack)
{
	return place_in_kept(&e->split, a, trans, stack) >= 0;
}

/* The kept operand's stack of the piece from k on. */
static struct matrix kept_stack(const struct split_room *room, int64_t k)
{
	int64_t before = pieces_bytes(room->stack, k, side(room->kept, room->trans));

	return stack_at(room->kept_data, before, piece_of(room->kept, room->trans, k), room->trans,
	        room->stack);
}

bool split_make(struct executor *e, struct splits *off)
{
	bool ok = off->count == 0 || e->ops->split(e, *off);

	off->count = 0;
	return ok;
}

static bool put_off(struct executor *e, struct splits *off, struct splitting one)
{
	bool ok = off->count < (int)ARRAY_LEN(off->of) || split_make(e, off);

	off->of[off->count++] = one;
	return ok;
}

bool split_make_kept(struct executor *e, struct splits *off)
{
	struct split_room *room = &e->split;
	bool ok = true;

	for (int64_t k = 0; ok && !room->made && k < split_depth(room->kept, room->trans);
	        k += TF32_PIECE)
		ok = put_off(e, off,
		        (struct splitting){piece_of(room->kept, room->trans, k), room->trans,
		                room->stack, kept_stack(room, k)});
	room->made = ok;
	return ok;
}

/* The stack of n columns of the kept operand's piece, from column `at` on. */
static struct matrix part_of_kept(
        const struct split_room *room, enum split_form stack, int64_t at, int64_t n, int64_t k)
{
	struct matrix all = kept_stack(room, k);
	int64_t slot = all.m / tf32_slots(room->stack);

	if (room->stack != TF32_BOTH)
		return matrix_view(all, 0, at, all.m, n);
	return matrix_view(all, stack == TF32_LEFT ? slot : 0, at, tf32_slots(stack) * slot, n);
}

static bool same(struct matrix a, struct matrix b)
{
	return a.data == b.data && a.offset == b.offset && a.ld == b.ld && a.m == b.m && a.n == b.n;
}

bool split_operand(struct executor *e, struct matrix a, enum trans trans, enum split_form stack,
        int64_t k, int64_t byte, struct splits *off, struct matrix *out)
{
	struct matrix piece = piece_of(a, trans, k);
	int64_t at = place_in_kept(&e->split, a, trans, stack);

	if (at >= 0) {
		bool ok = split_make_kept(e, off);
		*out = part_of_kept(&e->split, stack, at, side(a, trans), k);
		return ok;
	}
	*out = stack_at(e->split.data, byte, piece, trans, stack);
	return (k == 0 && same(a, e->split.ready)) ||
	       put_off(e, off, (struct splitting){piece, trans, stack, *out});
}
