/* SPDX-License-Identifier: MIT */
/* Shared by the tests of changes of a QR factorization: a factorization in executor memory beside
 * its matrix on the host, the changes made to both, and LAPACK's ratios afterwards. */
#pragma once

#include "changed_matrix.h"
#include "factor_test.h"

#include "factor/algorithms/qr_update.h"

#include <inttypes.h>
#include <lapacke.h>

enum { SIDES = 2 };

/* The functions under test. */
struct update_calls {
	int64_t (*work)(struct executor *, const struct qr_factors *, enum qr_change, int64_t p);
	bool (*change)(struct executor *, struct qr_factors *, enum qr_change, int64_t k, int64_t p,
	        struct matrix u, struct matrix v, struct matrix b, void *work, int *info);
};

/* A factorization in executor memory, and its matrix and right-hand sides in double on the host. */
struct fixture {
	struct executor *e;
	const struct update_calls *calls;
	enum precision precision;
	struct qr_factors f;
	struct test_memory q, r, d;
	double *a, *b; /* f.m x f.n, f.m x SIDES */
	uint64_t seed;
};

static inline double *random_doubles(struct fixture *s, int64_t m, int64_t n)
{
	return test_randoms(++s->seed, m * n, s->precision);
}

static inline void *to_precision(const double *x, int64_t count, enum precision precision)
{
	void *out = xmalloc((size_t)(count * precision_bytes(precision)) + 1);

	for (int64_t i = 0; i < count; i++)
		put(out, i, precision, x[i]);
	return out;
}

/* x (m x n) into the top left of `to`, or the other way round. */
static inline bool send(struct fixture *s, const double *x, int64_t m, int64_t n, struct matrix to)
{
	void *host = to_precision(x, m * n, s->precision);
	bool good =
	        m == 0 || n == 0 || s->e->ops->upload(s->e, host, m, matrix_view(to, 0, 0, m, n));

	free(host);
	return good;
}

static inline double *fetch(struct fixture *s, struct matrix from, int64_t m, int64_t n)
{
	void *host = xcalloc((size_t)(m * n) + 1, (size_t)precision_bytes(s->precision));

	if (m && n && !s->e->ops->download(s->e, matrix_view(from, 0, 0, m, n), host, m))
		diag("%s", s->e->fault.text);
	double *x = to_doubles(host, m, m, n, s->precision);
	free(host);
	return x;
}

static inline struct matrix open_matrix(
        struct fixture *s, struct test_memory *memory, int64_t m, int64_t n)
{
	int64_t ld = m + 3;

	if (!test_open(s->e, memory, ld * n * precision_bytes(s->precision), 0xff))
		diag("%s", s->e->fault.text);
	return (struct matrix){memory->data, 0, m, n, ld, s->precision};
}

/* R by LAPACK in double, and Q (m x m) where it is asked for. */
static inline void factorize(const double *a, int64_t m, int64_t n, double *wanted, double *r)
{
	double *q = wanted ? wanted : xmalloc((size_t)(m * n) * sizeof *q);
	double *tau = xmalloc((size_t)n * sizeof *tau);

	if (wanted) /* LAPACKE looks for NaN in the whole array */
		memset(q, 0, (size_t)(m * m) * sizeof *q);
	memcpy(q, a, (size_t)(m * n) * sizeof *a);
	LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)n, q, (lapack_int)m, tau);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			r[i + j * n] = i <= j ? q[i + j * m] : 0;
	if (wanted)
		LAPACKE_dorgqr(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)m, (lapack_int)n, q,
		        (lapack_int)m, tau);
	else
		free(q);
	free(tau);
}

static inline int64_t q_columns(const struct fixture *s)
{
	return s->f.kept == Q_FULL ? s->f.m : s->f.kept == Q_THIN ? s->f.n : 0;
}

static inline int64_t d_rows(const struct fixture *s)
{
	return s->f.kept == Q_FULL ? s->f.m : s->f.n;
}

/* With room for `rows` x `columns`. */
static inline struct fixture fixture_new(struct executor *e, const struct update_calls *calls,
        enum precision precision, enum q_kept kept, int64_t m, int64_t n, int64_t rows,
        int64_t columns, uint64_t seed)
{
	struct fixture s = {.e = e, .calls = calls, .precision = precision, .seed = seed * 1000};
	double *q = xmalloc((size_t)(m * m) * sizeof *q), *r = xmalloc((size_t)(n * n) * sizeof *r);
	double *d = xmalloc((size_t)(m * SIDES) * sizeof *d);

	s.f = (struct qr_factors){.m = m, .n = n, .kept = kept};
	s.a = random_doubles(&s, m, n);
	s.b = random_doubles(&s, m, SIDES);
	factorize(s.a, m, n, q, r);
	multiply(CblasTrans, CblasNoTrans, m, SIDES, m, 1, q, s.b, 0, d);
	s.f.q = open_matrix(&s, &s.q, kept ? rows : 0, kept ? rows : 0);
	s.f.r = open_matrix(&s, &s.r, rows, columns);
	s.f.d = open_matrix(&s, &s.d, rows, SIDES);
	double *top = xmalloc((size_t)(m * SIDES) * sizeof *top);
	for (int64_t j = 0; j < SIDES; j++)
		memcpy(top + j * d_rows(&s), d + j * m, (size_t)d_rows(&s) * sizeof *d);
	if (!send(&s, q, m, q_columns(&s), s.f.q) || !send(&s, r, n, n, s.f.r) ||
	        !send(&s, top, d_rows(&s), SIDES, s.f.d))
		diag("%s", e->fault.text);
	free(top);
	free(q);
	free(r);
	free(d);
	return s;
}

static inline bool fixture_close(struct fixture *s)
{
	bool intact = test_close(s->e, &s->q);

	intact = test_close(s->e, &s->r) && intact;
	intact = test_close(s->e, &s->d) && intact;
	free(s->a);
	free(s->b);
	return intact;
}

/* ---- the changes ---- */

struct outcome {
	bool ran;
	int info;
};

/* The operands of a change in executor memory, its workspace, info. */
struct given {
	struct test_memory u, v, b, work, info;
	struct matrix mu, mv, mb;
};

static inline struct given given_new(struct fixture *s, enum qr_change change, int64_t p,
        const double *u, int64_t um, int64_t un, const double *b, int64_t bm)
{
	struct given g = {0};
	int64_t bytes = s->calls->work(s->e, &s->f, change, p);

	g.mu = open_matrix(s, &g.u, um, un);
	g.mb = open_matrix(s, &g.b, bm, SIDES);
	if (bytes < 0 || !test_open(s->e, &g.work, bytes, 0xff) ||
	        !test_open(s->e, &g.info, 4, 0xff) || !send(s, u, um, un, g.mu) ||
	        !send(s, b, bm, SIDES, g.mb))
		diag("%s", s->e->fault.text);
	return g;
}

static inline bool given_close(struct fixture *s, struct given *g)
{
	bool intact = test_close(s->e, &g->u);

	intact = test_close(s->e, &g->b) && intact;
	intact = test_close(s->e, &g->work) && intact;
	intact = test_close(s->e, &g->info) && intact;
	return (!g->v.whole || test_close(s->e, &g->v)) && intact;
}

static inline struct outcome finish_change(
        struct fixture *s, struct given *g, bool ran, bool has_info)
{
	struct outcome out = {ran && s->e->ops->sync(s->e), 0};
	struct pivots info = {g->info.data, 0};

	if (out.ran && has_info)
		out.ran = s->e->ops->read_pivots(s->e, info, &(int){0}, &out.info);
	if (!out.ran)
		diag("%s", s->e->fault.text);
	out.ran = given_close(s, g) && out.ran;
	return out;
}

static inline bool run_change(
        struct fixture *s, const struct given *g, enum qr_change change, int64_t k, int64_t p)
{
	return s->calls->change(
	        s->e, &s->f, change, k, p, g->mu, g->mv, g->mb, g->work.data, g->info.data);
}

static inline struct outcome remove_columns(struct fixture *s, int64_t k, int64_t p)
{
	struct given g = given_new(s, QR_REMOVE_COLUMNS, p, NULL, 0, 0, NULL, 0);
	int64_t n = s->f.n;
	bool ran = run_change(s, &g, QR_REMOVE_COLUMNS, k, p);

	s->a = change_columns(s->a, s->f.m, n, k, p, NULL);
	return finish_change(s, &g, ran, false);
}

static inline struct outcome add_columns(struct fixture *s, int64_t k, int64_t p, const double *u)
{
	struct given g = given_new(s, QR_ADD_COLUMNS, p, u, s->f.m, p, s->b, s->f.m);
	int64_t n = s->f.n;
	bool ran = run_change(s, &g, QR_ADD_COLUMNS, k, p);

	s->a = change_columns(s->a, s->f.m, n, k, p, u);
	return finish_change(s, &g, ran, true);
}

static inline struct outcome add_rows(struct fixture *s, int64_t k, int64_t p)
{
	double *u = random_doubles(s, p, s->f.n), *b = random_doubles(s, p, SIDES);
	struct given g = given_new(s, QR_ADD_ROWS, p, u, p, s->f.n, b, p);
	int64_t m = s->f.m;
	bool ran = run_change(s, &g, QR_ADD_ROWS, k, p);

	s->a = change_rows(s->a, m, s->f.n, k, p, u);
	s->b = change_rows(s->b, m, SIDES, k, p, b);
	free(u);
	free(b);
	return finish_change(s, &g, ran, false);
}

static inline double *rows_at(const double *a, int64_t m, int64_t n, int64_t k, int64_t p)
{
	double *rows = xmalloc((size_t)(p * n + 1) * sizeof *rows);

	for (int64_t j = 0; j < n; j++)
		memcpy(rows + j * p, a + k + j * m, (size_t)p * sizeof *rows);
	return rows;
}

static inline struct outcome remove_rows(struct fixture *s, int64_t k, int64_t p)
{
	int64_t m = s->f.m, n = s->f.n;
	double *u = rows_at(s->a, m, n, k, p), *b = rows_at(s->b, m, SIDES, k, p);
	struct given g = given_new(s, QR_REMOVE_ROWS, p, u, p, n, b, p);
	bool ran = run_change(s, &g, QR_REMOVE_ROWS, k, p);

	s->a = change_rows(s->a, m, n, k, p, NULL);
	s->b = change_rows(s->b, m, SIDES, k, p, NULL);
	free(u);
	free(b);
	return finish_change(s, &g, ran, true);
}

static inline struct outcome modify(struct fixture *s, int64_t p)
{
	int64_t m = s->f.m, n = s->f.n;
	double *u = random_doubles(s, m, p), *v = random_doubles(s, n, p);
	struct given g = given_new(s, QR_MODIFY, p, u, m, p, s->b, m);

	g.mv = open_matrix(s, &g.v, n, p);
	bool ran = send(s, v, n, p, g.mv) && run_change(s, &g, QR_MODIFY, 0, p);
	multiply(CblasNoTrans, CblasTrans, m, n, p, 1, u, v, 1, s->a);
	free(u);
	free(v);
	return finish_change(s, &g, ran, true);
}

static inline struct outcome change(struct fixture *s, enum qr_change what, int64_t k, int64_t p)
{
	struct outcome out;
	double *u;

	switch (what) {
	case QR_REMOVE_COLUMNS:
		return remove_columns(s, k, p);
	case QR_ADD_COLUMNS:
		u = random_doubles(s, s->f.m, p);
		out = add_columns(s, k, p, u);
		free(u);
		return out;
	case QR_ADD_ROWS:
		return add_rows(s, k, p);
	case QR_REMOVE_ROWS:
		return remove_rows(s, k, p);
	default:
		return modify(s, p);
	}
}

/* ---- the measures, LAPACK's ratios ---- */

struct measures {
	double residual, orthogonality, sides;
	double fresh; /* R against that of a fresh factorization, rows' signs apart, over its norm
	                 and condition (estimated by its diagonal) */
	bool zeros;
};

static inline void check_fresh(
        const struct fixture *s, const double *r, double eps, struct measures *found)
{
	int64_t m = s->f.m, n = s->f.n;
	double *fresh = xmalloc((size_t)(n * n) * sizeof *r);
	double largest = 0, smallest = INFINITY, worst = 0, norm = 0;

	factorize(s->a, m, n, NULL, fresh);
	for (int64_t i = 0; i < n; i++) {
		double sign = r[i + i * n] * fresh[i + i * n] < 0 ? -1 : 1;
		largest = fmax(largest, fabs(fresh[i + i * n]));
		smallest = fmin(smallest, fabs(fresh[i + i * n]));
		for (int64_t j = i; j < n; j++) {
			worst = worse(worst, fabs(r[i + j * n] - sign * fresh[i + j * n]));
			norm = fmax(norm, fabs(fresh[i + j * n]));
		}
	}
	found->fresh = worst / (norm * (double)m * eps * largest / smallest);
	free(fresh);
}

static inline struct measures measure(struct fixture *s)
{
	int64_t m = s->f.m, n = s->f.n, columns = q_columns(s);
	double eps = unit_roundoff(s->precision);
	struct measures found = {.zeros = true};
	double *q = fetch(s, s->f.q, columns ? m : 0, columns), *r = fetch(s, s->f.r, n, n);
	double *d = fetch(s, s->f.d, d_rows(s), SIDES);
	double *left = xmalloc((size_t)(m * m + 1) * sizeof *left);
	double norm = norm_one(s->a, m, n), norm_b = norm_one(s->b, m, SIDES);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j + 1; i < n; i++)
			found.zeros &= r[i + j * n] == 0;
	if (columns) {
		memcpy(left, s->a, (size_t)(m * n) * sizeof *left);
		double *first = q;
		multiply(CblasNoTrans, CblasNoTrans, m, n, n, -1, first, r, 1, left);
		found.residual = test_ratio(norm_one(left, m, n), m, norm, eps);
		for (int64_t i = 0; i < columns * columns; i++)
			left[i] = i % (columns + 1) == 0;
		multiply(CblasTrans, CblasNoTrans, columns, columns, m, -1, q, q, 1, left);
		found.orthogonality = test_ratio(norm_one(left, columns, columns), m, 1, eps);
		multiply(CblasTrans, CblasNoTrans, columns, SIDES, m, -1, q, s->b, 1, d);
		found.sides = test_ratio(norm_one(d, columns, SIDES), m, norm_b, eps);
	} else { /* R^T R = A^T A, R^T d = A^T B */
		double *both = xmalloc((size_t)(n * SIDES + 1) * sizeof *both);
		multiply(CblasTrans, CblasNoTrans, n, n, m, 1, s->a, s->a, 0, left);
		double square = norm_one(left, n, n);
		multiply(CblasTrans, CblasNoTrans, n, n, n, -1, r, r, 1, left);
		found.residual = test_ratio(norm_one(left, n, n), m, square, eps);
		multiply(CblasTrans, CblasNoTrans, n, SIDES, m, 1, s->a, s->b, 0, both);
		multiply(CblasTrans, CblasNoTrans, n, SIDES, n, -1, r, d, 1, both);
		found.sides = test_ratio(norm_one(both, n, SIDES), m, norm * norm_b, eps);
		free(both);
	}
	check_fresh(s, r, eps, &found);
	free(q);
	free(r);
	free(d);
	free(left);
	return found;
}

static inline bool good(const struct measures *found, double most)
{
	return found->zeros && found->residual < most && found->orthogonality < most &&
	       found->sides < most && found->fresh < most;
}

/* ---- one change ---- */

struct shape {
	int64_t m, n, k, p;
};

/* One change of an m x n factorization: p rows or columns at k.
 * `how`: the variant under test, for the test's name. */
static inline void check_change(struct executor *e, const struct update_calls *calls,
        enum qr_change what, enum q_kept kept, enum precision precision, const struct shape *c,
        const char *how)
{
	struct fixture s =
	        fixture_new(e, calls, precision, kept, c->m, c->n, c->m + c->p, c->n + c->p, 3);
	double before = norm_one(s.a, c->m, c->n);
	struct outcome out = change(&s, what, c->k, c->p);
	struct measures found = {.residual = NAN};

	if (out.ran)
		found = measure(&s);
	/* without Q, the error that remains is that of A^T A before the rows were removed */
	double lost =
	        what == QR_REMOVE_ROWS && kept == Q_NONE ? before / norm_one(s.a, s.f.m, s.f.n) : 1;
	bool intact = fixture_close(&s);
	ok(out.ran && intact && out.info == 0 && good(&found, 30 * lost * lost),
	        "%s %c, Q %s%s: %" PRId64 " at %" PRId64 " of %" PRId64 " x %" PRId64
	        ": residual %.2g, orthogonality %.2g, sides %.2g, R %.2g",
	        qr_change_name[what], precision, q_kept_name[kept], how, c->p, c->k, c->m, c->n,
	        found.residual, found.orthogonality, found.sides, found.fresh);
	if (!found.zeros || out.info || !intact)
		diag("zeros below %d, info %d, margins %d", found.zeros, out.info, intact);
}
