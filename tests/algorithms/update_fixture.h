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

static const struct update_calls qr_update_calls = {.work = qr_update_work, .change = qr_update};

/* A factorization in executor memory, and its matrix and right-hand sides in double on the host. */
struct fixture {
	struct executor *e;
	const struct update_calls *calls;
	enum precision precision;
	struct qr_factors f;
	struct test_room room;
	double *a, *b; /* f.m x f.n, f.m x SIDES */
	uint64_t seed;
};

static inline double *random_doubles(struct fixture *s, int64_t m, int64_t n)
{
	return test_randoms(++s->seed, m * n, s->precision);
}

/* x (m x n) into the top left of `to`, or the other way round. */
static inline bool send(struct fixture *s, const double *x, int64_t m, int64_t n, struct matrix to)
{
	void *host = xmalloc((size_t)(m * n * precision_bytes(s->precision)) + 1);

	for (int64_t i = 0; i < m * n; i++)
		put(host, i, s->precision, x[i]);
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

/* m x n in executor memory, NaN or x. */
static inline struct matrix placed(
        struct fixture *s, struct test_room *room, const double *x, int64_t m, int64_t n)
{
	struct matrix a = room_matrix(room, m, n, m + 3, s->precision);

	room->good = room->good && (!x || send(s, x, m, n, a));
	return a;
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

/* p rows of a from row k on. */
static inline double *rows_at(const double *a, int64_t m, int64_t n, int64_t k, int64_t p)
{
	double *rows = xmalloc((size_t)(p * n + 1) * sizeof *rows);

	for (int64_t j = 0; j < n; j++)
		memcpy(rows + j * p, a + k + j * m, (size_t)p * sizeof *rows);
	return rows;
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
	s.room = room_new(e);
	s.f.q = placed(&s, &s.room, NULL, kept ? rows : 0, kept ? rows : 0);
	s.f.r = placed(&s, &s.room, NULL, rows, columns);
	s.f.d = placed(&s, &s.room, NULL, rows, SIDES);
	double *top = rows_at(d, m, SIDES, 0, d_rows(&s));
	s.room.good = s.room.good && send(&s, q, m, q_columns(&s), s.f.q) &&
	              send(&s, r, n, n, s.f.r) && send(&s, top, d_rows(&s), SIDES, s.f.d);
	free(top);
	free(q);
	free(r);
	free(d);
	return s;
}

static inline bool fixture_close(struct fixture *s)
{
	free(s->a);
	free(s->b);
	return room_close(&s->room, true);
}

/* ---- the changes ---- */

struct outcome {
	bool ran;
	int info;
};

/* The change of the matrix on the host. */
static inline void change_host(struct fixture *s, enum qr_change what, int64_t k, int64_t p,
        int64_t m, int64_t n, const double *u, const double *v, const double *b)
{
	const bool more = what == QR_ADD_COLUMNS || what == QR_ADD_ROWS;

	if (what == QR_MODIFY)
		multiply(CblasNoTrans, CblasTrans, m, n, p, 1, u, v, 1, s->a);
	else if (what == QR_REMOVE_COLUMNS || what == QR_ADD_COLUMNS)
		s->a = change_columns(s->a, m, n, k, p, more ? u : NULL);
	if (what == QR_ADD_ROWS || what == QR_REMOVE_ROWS) {
		s->a = change_rows(s->a, m, n, k, p, more ? u : NULL);
		s->b = change_rows(s->b, m, SIDES, k, p, more ? b : NULL);
	}
}

/* `columns`: those to add; NULL: random ones. */
static inline struct outcome change_with(
        struct fixture *s, enum qr_change what, int64_t k, int64_t p, const double *columns)
{
	const int64_t m = s->f.m, n = s->f.n;
	const bool rows = what == QR_ADD_ROWS || what == QR_REMOVE_ROWS,
	           has_info = what != QR_REMOVE_COLUMNS && what != QR_ADD_ROWS;
	struct test_room room = room_new(s->e);
	double *u = columns                  ? test_copy(columns, m, p, DOUBLE)
	            : what == QR_REMOVE_ROWS ? rows_at(s->a, m, n, k, p)
	                                     : random_doubles(s, rows ? p : m, rows ? n : p);
	double *v = random_doubles(s, n, p);
	double *b = what == QR_ADD_ROWS ? random_doubles(s, p, SIDES)
	            : rows              ? rows_at(s->b, m, SIDES, k, p)
	                                : rows_at(s->b, m, SIDES, 0, m);
	struct matrix mu = placed(s, &room, u, rows ? p : m, rows ? n : p),
	              mv = placed(s, &room, v, n, p), mb = placed(s, &room, b, rows ? p : m, SIDES);
	struct pivots info = room_pivots(&room, 0);
	void *work = room_bytes(&room, s->calls->work(s->e, &s->f, what, p));
	struct outcome out = {
	        room.good && s->calls->change(s->e, &s->f, what, k, p, mu, mv, mb, work, info.data),
	        0};

	change_host(s, what, k, p, m, n, u, v, b);
	if (out.ran && has_info)
		out.info = room_info(&room, info);
	out.ran = s->e->ops->sync(s->e) && out.ran;
	out.ran = room_close(&room, out.ran);
	free(u);
	free(v);
	free(b);
	return out;
}

static inline struct outcome change(struct fixture *s, enum qr_change what, int64_t k, int64_t p)
{
	return change_with(s, what, k, p, NULL);
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
		multiply(CblasNoTrans, CblasNoTrans, m, n, n, -1, q, r, 1, left);
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
