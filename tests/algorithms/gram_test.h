/* SPDX-License-Identifier: MIT */
/* Shared by the tests of Gram-Schmidt: a problem, its run in poisoned memory, residual and loss of
 * orthogonality. */
#pragma once

#include "factor_test.h"

#include "factor/algorithms/gram_schmidt.h"

#include <inttypes.h>

struct shape {
	int64_t m, n, padding, nb;
};

struct problem {
	int64_t m, n, lda, ldr, basis, nb;
	int64_t first; /* columns that are made orthonormal; 0: all */
	enum precision precision;
	const char *form; /* NULL: orthogonalize */
	void *before, *q, *r;
	int info;
};

static inline double get_at(
        const void *a, int64_t ld, int64_t i, int64_t j, enum precision precision)
{
	return get(a, i + j * ld, precision);
}

static inline struct problem problem_new(
        const struct shape *s, enum precision precision, const char *form)
{
	struct problem p = {.m = s->m,
	        .n = s->n,
	        .lda = s->m + s->padding,
	        .ldr = s->n + s->padding,
	        .nb = s->nb,
	        .precision = precision,
	        .form = form};
	int64_t word = precision_bytes(precision);

	p.before = xcalloc((size_t)(p.lda * p.n), (size_t)word);
	p.q = xcalloc((size_t)(p.lda * p.n), (size_t)word);
	p.r = xcalloc((size_t)(p.ldr * p.n), (size_t)word);
	return p;
}

static inline void problem_free(struct problem *p)
{
	free(p->before);
	free(p->q);
	free(p->r);
}

/* Random singular vectors by reflections, geometric singular values from 1 down to 1/condition. */
static inline void fill_conditioned(struct problem *p, double condition)
{
	int64_t m = p->m, n = p->n;
	double *x = xmalloc((size_t)(m * n) * sizeof *x);

	matrix_fill_conditioned(x, m, n, condition, 11);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(p->before, i + j * p->lda, p->precision, x[i + j * m]);
	free(x);
}

/* Into q, r and info; all memory is full of NaN before. */
static inline bool run(struct executor *e, struct problem *p)
{
	const int64_t rows = p->first ? p->first : p->n, columns = p->n - p->basis;
	struct test_room room = room_new(e);
	struct matrix whole = room_matrix(&room, p->lda, p->n, p->lda, p->precision);
	struct matrix all_r = room_matrix(&room, p->ldr, columns, p->ldr, p->precision);
	struct matrix q = matrix_view(whole, 0, 0, p->m, p->n);
	struct matrix upper = matrix_view(all_r, 0, 0, rows, columns);
	struct pivots info = room_pivots(&room, 0);
	void *work = room_bytes(&room, p->form ? gram_schmidt_work(e, p->form, p->nb, q)
	                                       : orthogonalize_work(e, p->nb, q, p->basis));
	bool good =
	        room.good && e->ops->upload(e, p->before, p->lda, whole) &&
	        (!p->form          ? orthogonalize(e, p->nb, q, p->basis, upper, work, info.data)
	                : p->first ? gram_schmidt_first(
	                                     e, p->form, p->nb, rows, q, upper, work, info.data)
	                           : gram_schmidt(e, p->form, p->nb, q, upper, work, info.data)) &&
	        e->ops->sync(e) && e->ops->download(e, whole, p->q, p->lda) &&
	        e->ops->download(e, all_r, p->r, p->ldr);

	p->info = good ? room_info(&room, info) : -1;
	return room_close(&room, good);
}

/* ---- the measures ---- */

struct measures {
	double residual; /* largest norm of a column of A - Q R over that of A's, over sqrt(n) u */
	double orthogonality; /* norm2(I - Q^T Q), dependent columns left out, over sqrt(n) u */
	bool zero_below, padding;
};

/* The 2-norm of a symmetric matrix by power iteration: never above the norm. */
static inline double norm_two(const double *g, int64_t n)
{
	double *x = xcalloc((size_t)n, sizeof *x), *y = xcalloc((size_t)n, sizeof *y);
	double norm = norm_frobenius(g, n * n);

	for (int64_t i = 0; i < n; i++)
		x[i] = test_random(8, i);
	for (int step = 0; norm > 0 && step < 30; step++) {
		double before = norm_frobenius(x, n);
		multiply(CblasNoTrans, CblasNoTrans, n, 1, n, 1 / before, g, x, 0, y);
		memcpy(x, y, (size_t)n * sizeof *x);
		norm = norm_frobenius(x, n);
	}
	free(x);
	free(y);
	return norm;
}

/* Columns that are not made orthonormal are what is left of A's: R is the identity there. */
static inline struct measures measure(const struct problem *p)
{
	int64_t m = p->m, n = p->n, columns = n - p->basis, made = p->first ? p->first : n;
	double u = unit_roundoff(p->precision), scale = sqrt((double)n) * u;
	struct measures found = {0, 0, true, true};
	double *a = to_doubles(p->before, p->lda, m, n, p->precision);
	double *q = to_doubles(p->q, p->lda, m, n, p->precision);
	double *r = to_doubles(p->r, p->ldr, n, columns, p->precision);
	double *g = xcalloc((size_t)(n * n), sizeof *g);

	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = made; i < n; i++)
			r[i + j * n] = i == j;
	for (int64_t j = 0; j < made; j++)
		g[j + j * made] = j >= p->basis && r[j + (j - p->basis) * n] == 0 ? 0 : 1;
	multiply(CblasTrans, CblasNoTrans, made, made, m, -1, q, q, 1, g);
	found.orthogonality = norm_two(g, made) / scale;
	multiply(CblasTrans, CblasNoTrans, made, n - made, m, 1, q, q + made * m, 0, g);
	found.orthogonality = worse(
	        found.orthogonality, norm_max(g, made * (n - made)) / (sqrt((double)m) * scale));
	double *part = a + p->basis * m, *left = test_copy(part, m, columns, DOUBLE);
	multiply(CblasNoTrans, CblasNoTrans, m, columns, n, -1, q, r, 1, left);
	for (int64_t j = 0; j < columns; j++) {
		double norm = norm_frobenius(left + j * m, m);
		for (int64_t i = j + p->basis + 1; i < n; i++)
			found.zero_below &= r[i + j * n] == 0;
		if (norm > 0)
			found.residual = worse(
			        found.residual, norm / norm_frobenius(part + j * m, m) / scale);
	}
	free(left);
	for (int64_t j = 0; j < n; j++) /* nothing is written there */
		for (int64_t i = m; i < p->lda; i++)
			found.padding &= get_at(p->q, p->lda, i, j, p->precision) == 0;
	free(a);
	free(q);
	free(r);
	free(g);
	return found;
}

/* In columns from .. to - 1 of Q. */
static inline bool nan_between(const struct problem *p, int64_t from, int64_t to)
{
	const char *q = (const char *)p->q + from * p->lda * precision_bytes(p->precision);

	return any_nan(q, p->lda, p->m, to - from, p->precision);
}
