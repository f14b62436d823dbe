/* SPDX-License-Identifier: MIT */
/* Q = Q' S by Gram-Schmidt, and R' = S R. A column of Q that depends on others leaves a zero column
 * in Q' and a zero row in S, hence in R': any column may stand there, and Q' R' is the same. It is
 * a column of Z, made orthogonal to Q': Y = Z (I - Q'^T Q') is about zero in all other columns. */
#include "qr_refactor.h"

#include "lib/base/msg.h"
#include "gram_schmidt.h"
#include "plan.h"

struct repair {
	struct executor *e;
	const struct qr_factors *f;
	struct matrix q, s, t; /* Q; n x n */
	struct matrix y, z;    /* as large as Q */
	void *gram;
	int64_t bytes; /* -1: refused */
};

static const char form[] = "twice";

static void set_up(struct repair *u, struct executor *e, const struct qr_factors *f, void *work)
{
	struct workspace workspace = {work, 0};
	enum precision precision = f->r.precision;

	*u = (struct repair){.e = e, .f = f, .bytes = -1};
	if (f->kept != Q_THIN) {
		fault_set(&e->fault, "what is made orthonormal again is thin Q, not Q %s",
		        q_kept_name[f->kept]);
		return;
	}
	u->q = matrix_view(f->q, 0, 0, f->m, f->n);
	u->s = workspace_matrix(&workspace, f->n, f->n, precision);
	u->t = workspace_matrix(&workspace, f->n, f->n, precision);
	u->y = workspace_matrix(&workspace, f->m, f->n, precision);
	u->z = workspace_matrix(&workspace, f->m, f->n, precision);
	u->gram = workspace_bytes(&workspace, 0);
	int64_t inner = gram_schmidt_work(e, form, GRAM_SCHMIDT_BLOCK, u->q);
	u->bytes = inner < 0 ? -1 : workspace.used + inner;
}

int64_t qr_reorthogonalize_work(struct executor *e, const struct qr_factors *f)
{
	struct repair u;

	set_up(&u, e, f, NULL);
	return u.bytes;
}

static bool orthonormal(const struct repair *u, int *info)
{
	return gram_schmidt(u->e, form, GRAM_SCHMIDT_BLOCK, u->q, u->s, u->gram, info);
}

/* R := S R */
static bool move_into_r(const struct repair *u)
{
	struct matrix r = matrix_view(u->f->r, 0, 0, u->f->n, u->f->n);

	return ex_gemm(u->e, PLAIN, PLAIN, 1, u->s, r, 0, u->t) && ex_copy(u->e, WHOLE, u->t, r);
}

/* y := Z (I - Q^T Q). Z: the last n unit vectors, each with a small part of every other one. */
static bool draw(const struct repair *u)
{
	struct executor *e = u->e;
	int64_t m = u->f->m, n = u->f->n;
	double little = 1 / (double)m;

	return ex_fill(e, WHOLE, little, little, u->z) &&
	       ex_fill(e, WHOLE, little, 1, matrix_view(u->z, m - n, 0, n, n)) &&
	       ex_fill(e, WHOLE, 0, 1, u->t) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, -1, u->q, u->q, 1, u->t) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, u->z, u->t, 0, u->y);
}

static bool take_out(const struct repair *u)
{
	return ex_gemm(u->e, TRANSPOSED, PLAIN, 1, u->q, u->y, 0, u->t) &&
	       ex_gemm(u->e, PLAIN, PLAIN, -1, u->q, u->t, 1, u->y);
}

/* Q += y */
static bool fill_in(const struct repair *u)
{
	return ex_fill(u->e, WHOLE, 0, 1, u->t) &&
	       ex_gemm(u->e, PLAIN, PLAIN, 1, u->y, u->t, 1, u->q);
}

bool qr_reorthogonalize(
        struct executor *e, const struct qr_factors *f, struct matrix b, void *work, int *info)
{
	struct repair u;

	set_up(&u, e, f, work);
	e->queue = QUEUE_MAIN;
	return u.bytes >= 0 && orthonormal(&u, info) && move_into_r(&u) && draw(&u) &&
	       take_out(&u) && take_out(&u) && fill_in(&u) && orthonormal(&u, info) &&
	       (f->d.n == 0 || ex_gemm(e, TRANSPOSED, PLAIN, 1, u.q, b, 0,
	                               matrix_view(f->d, 0, 0, f->n, f->d.n)));
}
