/* SPDX-License-Identifier: MIT */
/* Cost of an n x n triangle with r right-hand sides: n^2 r by substitution; by pieces of width p
 * n^2 r + n p r, and n p^2 / 3 for the inverses. */
#include "triangle.h"

#include "lib/base/msg.h"

#include <inttypes.h>

/* Widest triangle that trsm solves; wider ones are mostly products. */
enum { NARROW = 128 };

/* What piece i of a solve works on. */
struct piece {
	struct matrix a;       /* the diagonal piece */
	struct matrix inverse; /* its inverse */
	struct matrix before;  /* the part of A that couples it to the pieces before */
	struct matrix solved;  /* the solution of the pieces before */
	struct matrix kept, b; /* its right-hand sides, and its solution */
};

int64_t triangle_piece(const struct plan *plan)
{
	return plan->hybrid || plan->inverse < plan->leaf ? plan->inverse : plan->leaf;
}

bool triangle_check(struct executor *e, const struct plan *plan)
{
	int64_t piece = triangle_piece(plan);

	if (!plan->hybrid && piece && plan->leaf % piece != 0)
		return fault_refuse(&e->fault,
		        "leaves of %" PRId64 " columns are no multiple of inverses of %" PRId64,
		        plan->leaf, piece);
	return true;
}

struct matrix triangle_workspace(
        const struct triangle *t, struct workspace *workspace, int64_t n, enum precision precision)
{
	return workspace_matrix(workspace, t->piece, n, precision);
}

static struct matrix inverse_at(struct matrix inverse, int64_t j, int64_t n)
{
	return matrix_view(inverse, 0, j, n, n);
}

static int64_t piece_width(const struct triangle *t, int64_t j, int64_t n)
{
	return n - j < t->piece ? n - j : t->piece;
}

bool triangle_invert(
        struct executor *e, const struct triangle *t, struct matrix a, struct matrix inverse)
{
	bool ok = true;

	for (int64_t j = 0; ok && t->piece && j < a.n; j += t->piece) {
		int64_t n = piece_width(t, j, a.n);
		ok = ex_trtri(
		        e, t->uplo, t->diag, matrix_view(a, j, j, n, n), inverse_at(inverse, j, n));
	}
	return ok;
}

/* Rows or columns j .. j+n-1; without the inverse. */
static struct piece piece_at(const struct triangle *t, struct matrix a, struct matrix kept,
        struct matrix b, int64_t j, int64_t n)
{
	struct piece p = {.a = matrix_view(a, j, j, n, n)};

	p.before = t->uplo == LOWER ? matrix_view(a, j, 0, n, j) : matrix_view(a, 0, j, j, n);
	if (t->side == LEFT) {
		p.solved = matrix_view(b, 0, 0, j, b.n);
		p.kept = matrix_view(kept, j, 0, n, b.n);
		p.b = matrix_view(b, j, 0, n, b.n);
	} else {
		p.solved = matrix_view(b, 0, 0, b.m, j);
		p.kept = matrix_view(kept, 0, j, b.m, n);
		p.b = matrix_view(b, 0, j, b.m, n);
	}
	return p;
}

/* kept -= the contribution of the solution so far */
static bool subtract_solved(struct executor *e, const struct triangle *t, const struct piece *p)
{
	if (p->solved.m == 0 || p->solved.n == 0)
		return true;
	if (t->side == LEFT)
		return ex_gemm(e, t->trans, PLAIN, -1, p->before, p->solved, 1, p->kept);
	return ex_gemm(e, PLAIN, t->trans, -1, p->solved, p->before, 1, p->kept);
}

static bool multiply_inverse(struct executor *e, const struct triangle *t, const struct piece *p)
{
	if (t->side == LEFT)
		return ex_gemm(e, t->trans, PLAIN, 1, p->inverse, p->kept, 0, p->b);
	return ex_gemm(e, PLAIN, t->trans, 1, p->kept, p->inverse, 0, p->b);
}

/* By substitution: halves, with gemm between them, until they are narrow. */
static bool substitute(
        struct executor *e, const struct triangle *t, struct matrix a, struct matrix b)
{
	if (a.n <= NARROW)
		return ex_trsm(e, t->side, t->uplo, t->trans, t->diag, 1, a, b);

	int64_t n = (a.n / 2 + NARROW - 1) / NARROW * NARROW, rest = a.n - n;
	struct piece second = piece_at(t, a, b, b, n, rest);
	return substitute(e, t, matrix_view(a, 0, 0, n, n), second.solved) &&
	       subtract_solved(e, t, &second) && substitute(e, t, second.a, second.kept);
}

bool triangle_solve(struct executor *e, const struct triangle *t, struct matrix a,
        struct matrix inverse, struct matrix kept, struct matrix b)
{
	if (!t->piece)
		return substitute(e, t, a, b);

	kept = room_for(kept, b.m, b.n);
	bool ok = ex_copy(e, WHOLE, b, kept);
	for (int64_t j = 0; ok && j < a.n; j += t->piece) {
		int64_t n = piece_width(t, j, a.n);
		struct piece p = piece_at(t, a, kept, b, j, n);
		p.inverse = inverse_at(inverse, j, n);
		ok = subtract_solved(e, t, &p) && multiply_inverse(e, t, &p) &&
		     ex_trsm_guard(
		             e, t->side, t->uplo, t->trans, t->diag, p.a, p.inverse, p.kept, p.b);
	}
	return ok;
}
