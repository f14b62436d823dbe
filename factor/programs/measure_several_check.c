/* SPDX-License-Identifier: MIT */
#include "measure_several.h"

#include "factor/validation/check_whole.h"
#include "factor/validation/check.h"
#include "factor/validation/matrices.h"

#include <math.h>
#include <stdlib.h>

/* ---- the solve ---- */

/* The status of solving with the last run's factors. */
static enum fathom_status solve(struct several *s, const struct result *row,
        const struct fathom_mg_matrix *desc, void *const *b)
{
#define SOLVE(letter, type)                                                                        \
	(several_operation(row) == POTRF ? fathom_mg_##letter##potrs(s->group, 'L', &s->desc,      \
	                                           (type *const *)s->a, desc, (type *const *)b)    \
	        : several_operation(row) == GEQRF                                                  \
	                ? fathom_mg_##letter##gels(s->group, 'N', &s->desc, (type *const *)s->a,   \
	                          desc, (type *const *)b)                                          \
	                : fathom_mg_##letter##getrs(s->group, 'N', &s->desc, (type *const *)s->a,  \
	                          s->ipiv, desc, (type *const *)b))
	return row->precision == SINGLE ? SOLVE(s, float) : SOLVE(d, double);
#undef SOLVE
}

/* x of A x = b, both in host memory, by way of `room` on rank 0. */
static bool solve_on(
        struct several *s, const struct result *row, struct matrix room, const void *b, void *x)
{
	const struct fathom_mg_matrix desc = {.m = room.m, .n = 1, .nb = s->desc.nb, .lld = room.m};
	struct executor *e = s->group->members[0].e;
	void *right[SEVERAL_MOST] = {room.data};

	/* QR's solve factorizes, too */
	if (several_operation(row) == GEQRF && !several_fill(s, row->precision, false))
		return false;
	if (!e->ops->upload(e, b, room.m, room))
		return several_fault(s, &e->fault);
	if (solve(s, row, &desc, right) != FATHOM_OK)
		return several_fault(s, &s->group->fault);
	return (several_enter(s, 0) && e->ops->download(e, room, x, room.m)) ||
	       several_fault(s, &e->fault);
}

/* ---- the product ---- */

/* On one rank, in double precision: a block of columns, x, and what is added up. */
struct product {
	struct executor *e;
	struct matrix block, x, sum;
	bool definite;
};

/* sum += A x for some columns of the rank, in rows i .. of A and sum. */
static bool add_columns(const struct product *p, struct matrix columns, int64_t i, int64_t j)
{
	const int64_t rows = columns.m, w = columns.n, order = p->sum.m;
	const struct matrix wide = matrix_view(p->block, 0, 0, rows, w),
	                    top = matrix_view(wide, 0, 0, w, w);
	const struct matrix down = matrix_view(p->sum, i, 0, rows, 1),
	                    of_columns = matrix_view(p->x, j, 0, w, 1);
	struct executor *e = p->e;

	if (!whole_widen(e, columns, wide) ||
	        (p->definite && !ex_fill(e, UPPER, 0, several_diagonal(order), top)) ||
	        !ex_gemm(e, PLAIN, PLAIN, 1, wide, of_columns, 1, down))
		return false;
	if (!p->definite)
		return true;
	/* the other triangle */
	return ex_fill(e, UPPER, 0, 0, top) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, 1, wide, matrix_view(p->x, i, 0, rows, 1), 1,
	               matrix_view(p->sum, j, 0, w, 1));
}

/* The rank's part of A x; work: room for p's matrices. */
static bool multiply_rank(struct several *s, int rank, const struct result *row, const double *x,
        void *work, double *part)
{
	const int64_t n = s->desc.n, nb = min_int64(s->desc.nb, n);
	const struct distributed a = several_columns(s, rank, row->precision);
	double *at = work;
	struct product p = {.e = s->group->members[rank].e,
	        .block = {at, 0, n, nb, n, DOUBLE},
	        .x = {at + n * nb, 0, n, 1, n, DOUBLE},
	        .sum = {at + n * nb + n, 0, n, 1, n, DOUBLE},
	        .definite = several_operation(row) == POTRF};
	bool ok = p.e->ops->upload(p.e, x, n, p.x) && ex_fill(p.e, WHOLE, 0, 0, p.sum);

	for (int64_t j = 0; ok && j < n; j += nb) {
		const int64_t i = p.definite ? j : 0; /* the lower triangle counts */
		const struct matrix columns = distributed_columns(&a, i, j, min_int64(nb, n - j));
		ok = columns.n == 0 || add_columns(&p, columns, i, j);
	}
	return ok && p.e->ops->sync(p.e) && p.e->ops->download(p.e, p.sum, part, n);
}

/* b -= A x, b and x in double precision in host memory. */
static bool subtract_product(
        struct several *s, const struct result *row, const double *x, double *b)
{
	const int64_t n = s->desc.n, nb = min_int64(s->desc.nb, n);
	double *part = xmalloc((size_t)n * sizeof *part);
	bool ok = true;

	for (int rank = 0; ok && rank < s->gpus; rank++) {
		struct executor *e = s->group->members[rank].e;
		void *work = NULL;
		ok = several_enter(s, rank) &&
		     e->ops->alloc(e, (nb + 2) * n * (int64_t)sizeof(double), &work) &&
		     multiply_rank(s, rank, row, x, work, part);
		for (int64_t i = 0; ok && i < n; i++)
			b[i] -= part[i];
		if (work)
			e->ops->release(e, work);
		if (!ok)
			several_fault(s, &e->fault);
	}
	free(part);
	return several_enter(s, 0) && ok;
}

/* ---- both ---- */

static double norm(const double *x, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sqrt(sum);
}

/* Of n x n numbers evenly spread over (-1, 1); definite: with the larger diagonal. */
static double norm_of_random(int64_t order, bool definite)
{
	const double n = (double)order, diagonal = several_diagonal(order);

	return definite ? sqrt((n * n - n) / 3 + n * diagonal * diagonal) : n / sqrt(3);
}

bool several_residual(struct several *s, const struct result *row, double *ratio)
{
	const int64_t n = s->desc.n;
	const bool definite = several_operation(row) == POTRF;
	struct executor *e = s->group->members[0].e;
	struct matrix room = {NULL, 0, n, 1, n, row->precision};
	double *b = xmalloc(4 * (size_t)n * sizeof *b), *x = b + n, *given = x + n,
	       *got = given + n;

	matrix_fill(given, n, n, 1, row->precision, MATRIX_RANDOM, 17);
	bool ok = several_enter(s, 0) &&
	          e->ops->alloc(e, n * precision_bytes(room.precision), &room.data);
	if (!ok)
		several_fault(s, &e->fault);
	ok = ok && solve_on(s, row, room, given, got);
	for (int64_t i = 0; ok && i < n; i++) {
		b[i] = matrix_get(given, row->precision, i);
		x[i] = matrix_get(got, row->precision, i);
	}
	ok = ok && several_fill(s, row->precision, definite) && subtract_product(s, row, x, b);
	*ratio = norm(b, n) / (norm_of_random(n, definite) * norm(x, n) * sqrt((double)n) *
	                              check_eps(row->precision));
	if (room.data)
		e->ops->release(e, room.data);
	free(b);
	return ok;
}
