/* SPDX-License-Identifier: MIT */
/* A QR factorization made and changed by libfathom, beside its matrix on the host. */
#pragma once

#include "tests/algorithms/changed_matrix.h"
#include "fathom_test.h"

#include "factor/algorithms/qr_update.h"

enum { M = 300, N = 120, P = 37, SIDES = 2, ROOM = 520 };
static const char letters[] = {'N', 'S', 'A'};

/* A factorization with room on the device, and its matrix and right-hand sides on the host in
 * double. */
struct fixture {
	enum precision p;
	enum q_kept kept;
	int64_t m, n;
	struct pair q, r, d;
	double *a, *b;
	uint64_t seed;
};

static inline double *random_doubles(struct fixture *s, int64_t count)
{
	return test_randoms(++s->seed, count, s->p);
}

/* On the device, without padding. */
static inline void *send(const double *x, int64_t count, enum precision p)
{
	void *host = xmalloc((size_t)(count * precision_bytes(p)) + 1);

	for (int64_t i = 0; i < count; i++)
		put(host, i, p, x[i]);
	void *device = on_device(host, count * precision_bytes(p));
	free(host);
	return device;
}

static inline struct pair room(int64_t m, int64_t n, enum precision p)
{
	struct pair a = pair_random(m, n, p, 5);

	GPU(cudaMemset(a.device, 0xff, (size_t)a.bytes));
	return a;
}

static inline bool factorize(struct fixture *s)
{
	int64_t bytes = CALL(s->p, qr_factorize_work, letters[s->kept], s->m, s->n, SIDES);
	void *work = on_device(NULL, bytes), *a = send(s->a, s->m * s->n, s->p);
	void *b = send(s->b, s->m * SIDES, s->p);
	return done(CALL(s->p, qr_factorize, letters[s->kept], s->m, s->n, SIDES, a, s->m, b, s->m,
	        s->q.device, s->q.ld, s->r.device, s->r.ld, s->d.device, s->d.ld, work, bytes));
}

static inline struct fixture fixture_new(enum precision p, enum q_kept kept)
{
	struct fixture s = {.p = p, .kept = kept, .m = M, .n = N, .seed = 100};

	s.a = random_doubles(&s, M * N);
	s.b = random_doubles(&s, M * SIDES);
	s.q = room(ROOM, ROOM, p);
	s.r = room(ROOM, ROOM, p);
	s.d = room(ROOM, SIDES, p);
	return s;
}

/* With all other memory of the check. */
static inline void fixture_free(struct fixture *s)
{
	free(s->a);
	free(s->b);
	release();
}

/* ---- measures ---- */

/* The largest ratio: of R^T R - A^T A and R^T D - A^T B, and with Q of Q R - A and Q^T Q - I. */
static inline double worst_ratio(const struct fixture *s)
{
	int64_t m = s->m, n = s->n, columns = s->kept == Q_FULL ? m : n;
	void *q = pair_result(&s->q), *r = pair_result(&s->r), *d = pair_result(&s->d);
	double *fr = own(to_doubles(r, s->r.ld, n, n, s->p), false);
	double *fd = own(to_doubles(d, s->d.ld, n, SIDES, s->p), false);
	double *square = on_host(m * m * (int64_t)sizeof *square);
	double *sides = on_host(n * SIDES * (int64_t)sizeof *sides), eps = unit_roundoff(s->p);

	multiply(CblasTrans, CblasNoTrans, n, n, m, 1, s->a, s->a, 0, square);
	double norm = norm_one(square, n, n);
	multiply(CblasTrans, CblasNoTrans, n, n, n, -1, fr, fr, 1, square);
	double worst = test_ratio(norm_one(square, n, n), m, norm, eps);
	multiply(CblasTrans, CblasNoTrans, n, SIDES, m, 1, s->a, s->b, 0, sides);
	multiply(CblasTrans, CblasNoTrans, n, SIDES, n, -1, fr, fd, 1, sides);
	worst = worse(worst, test_ratio(norm_one(sides, n, SIDES), m,
	                             norm_one(s->a, m, n) * norm_one(s->b, m, SIDES), eps));
	if (s->kept != Q_NONE) {
		double *fq = own(to_doubles(q, s->q.ld, m, columns, s->p), false);
		memcpy(square, s->a, (size_t)(m * n) * sizeof *square);
		multiply(CblasNoTrans, CblasNoTrans, m, n, n, -1, fq, fr, 1, square);
		worst = worse(
		        worst, test_ratio(norm_one(square, m, n), m, norm_one(s->a, m, n), eps));
		for (int64_t i = 0; i < columns * columns; i++)
			square[i] = i % (columns + 1) == 0;
		multiply(CblasTrans, CblasNoTrans, columns, columns, m, -1, fq, fq, 1, square);
		worst = worse(worst, test_ratio(norm_one(square, columns, columns), m, 1, eps));
	}
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j + 1; i < n; i++)
			worst = fr[i + j * n] == 0 ? worst : INFINITY;
	return worst;
}

/* ---- the changes ---- */

/* The operands of a change, on the device. */
struct given {
	void *u, *v, *b;
	int64_t ldu, ldb;
};

/* Changes the host's matrix. */
static inline struct given change_host(struct fixture *s, enum qr_change change, int64_t k)
{
	bool rows = change == QR_ADD_ROWS || change == QR_REMOVE_ROWS;
	int64_t m = s->m, n = s->n, length = rows ? P * n : m * P;
	double *u = random_doubles(s, length), *v = random_doubles(s, n * P);
	double *b = random_doubles(s, m * SIDES);

	if (change == QR_REMOVE_ROWS) {
		for (int64_t i = 0; i < P * n; i++)
			u[i] = s->a[k + i % P + i / P * m];
		for (int64_t i = 0; i < P * SIDES; i++)
			b[i] = s->b[k + i % P + i / P * m];
	} else if (change != QR_ADD_ROWS) {
		memcpy(b, s->b, (size_t)(m * SIDES) * sizeof *b);
	}
	struct given g = {.ldu = rows ? P : m, .ldb = rows ? P : m};
	g.u = send(u, length, s->p);
	g.v = send(v, n * P, s->p);
	g.b = send(b, g.ldb * SIDES, s->p);
	if (change == QR_REMOVE_COLUMNS || change == QR_ADD_COLUMNS) {
		s->a = change_columns(s->a, m, n, k, P, change == QR_ADD_COLUMNS ? u : NULL);
		s->n += change == QR_ADD_COLUMNS ? P : -P;
	} else if (rows) {
		s->a = change_rows(s->a, m, n, k, P, change == QR_ADD_ROWS ? u : NULL);
		s->b = change_rows(s->b, m, SIDES, k, P, change == QR_ADD_ROWS ? b : NULL);
		s->m += change == QR_ADD_ROWS ? P : -P;
	} else {
		multiply(CblasNoTrans, CblasTrans, m, n, P, 1, u, v, 1, s->a);
	}
	free(u);
	free(v);
	free(b);
	return g;
}

#define FACTORS(s) (s)->q.device, (s)->q.ld, (s)->r.device, (s)->r.ld, (s)->d.device, (s)->d.ld

static inline enum fathom_status call_change(struct fixture *s, enum qr_change change, int64_t m,
        int64_t n, int64_t k, struct given *g, void *work, int64_t bytes, int *info)
{
	char q = letters[s->kept];

	switch (change) {
	case QR_REMOVE_COLUMNS:
		return CALL(s->p, qr_remove_columns, q, m, n, SIDES, k, P, FACTORS(s), work, bytes);
	case QR_ADD_COLUMNS:
		return CALL(s->p, qr_add_columns, q, m, n, SIDES, k, P, g->u, g->ldu, g->b, g->ldb,
		        FACTORS(s), work, bytes, info);
	case QR_ADD_ROWS:
		return CALL(s->p, qr_add_rows, q, m, n, SIDES, k, P, g->u, g->ldu, g->b, g->ldb,
		        FACTORS(s), work, bytes);
	case QR_REMOVE_ROWS:
		return CALL(s->p, qr_remove_rows, q, m, n, SIDES, k, P, g->u, g->ldu, g->b, g->ldb,
		        FACTORS(s), work, bytes, info);
	default:
		return CALL(s->p, qr_modify, q, m, n, SIDES, P, g->u, g->ldu, g->v, n, g->b, g->ldb,
		        FACTORS(s), work, bytes, info);
	}
}
