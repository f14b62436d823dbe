/* SPDX-License-Identifier: MIT */
/* Sequences of libfathom's calls for tests of captured calls. All operands of a sequence lie in one
 * piece of memory, so that one copy fills them and one comparison checks them. */
#pragma once

#include "fathom_test.h"

enum { SIDES = 3, CHANGED = 37, CHANGES_AT = 11 };

struct fixture;

struct problem {
	const char *name;
	bool (*calls)(struct fixture *);
	int64_t m, n;
	int definite; /* number of definite matrices: the first ones, of n columns leading() apart
	               */
	char jobq;
};

/* Without data the calls only add up the bytes of their operands. */
struct fixture {
	struct problem of;
	enum precision p;
	char *data;
	void *work;
	int64_t bytes, work_bytes;
};

/* ---- operands ---- */

/* Multiples of 16 bytes for even sizes. */
static inline int64_t leading(const struct fixture *s)
{
	return s->of.m + 4;
}

/* The next `count` numbers of the fixture. */
static inline void *numbers(struct fixture *s, int64_t count)
{
	const int64_t line = 256, at = s->bytes;

	s->bytes += (count * precision_bytes(s->p) + line - 1) / line * line;
	return s->data ? s->data + at : NULL;
}

/* All calls of a fixture have one workspace. */
static inline int64_t room_of(struct fixture *s, int64_t bytes)
{
	s->work_bytes = bytes > s->work_bytes ? bytes : s->work_bytes;
	return bytes;
}

static inline bool succeeded(enum fathom_status status, const char *what)
{
	if (status != FATHOM_OK)
		diag("%s: %s: %s", what, fathom_status_text(status), fathom_error(handle));
	return status == FATHOM_OK;
}

#define ROOM(name, ...) room_of(s, CALL(s->p, name##_work, __VA_ARGS__))
#define RUN(name, ...) (!s->data || succeeded(CALL(s->p, name, __VA_ARGS__), #name))

/* ---- the calls ---- */

static inline bool lu(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = leading(s), bytes = ROOM(getrf, m, n, ld);
	void *a = numbers(s, ld * n), *b = numbers(s, m * SIDES);
	int *ipiv = numbers(s, n), *info = numbers(s, 1);

	return RUN(getrf, m, n, a, ld, ipiv, s->work, bytes, info) &&
	       (m != n || (RUN(getrs, 'N', n, SIDES, a, ld, ipiv, b, m) &&
	                          RUN(getrs, 'T', n, SIDES, a, ld, ipiv, b, m)));
}

/* The same of the transpose of a row-major matrix. */
static inline bool lu_rows(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = leading(s), bytes = ROOM(getrf_rows, n, m, ld);
	void *a = numbers(s, ld * n), *b = numbers(s, m * SIDES);
	int *ipiv = numbers(s, n), *info = numbers(s, 1);

	return RUN(getrf_rows, n, m, a, ld, ipiv, s->work, bytes, info) &&
	       (m != n || (RUN(getrs_rows, 'N', n, SIDES, a, ld, ipiv, b, m) &&
	                          RUN(getrs_rows, 'T', n, SIDES, a, ld, ipiv, b, m)));
}

static inline bool two_lus(struct fixture *s)
{
	return lu(s) && lu_rows(s);
}

static inline bool cholesky(struct fixture *s)
{
	const int64_t n = s->of.n, ld = leading(s);
	const int64_t lower = ROOM(potrf, 'L', n, ld), upper = ROOM(potrf, 'U', n, ld);
	void *l = numbers(s, ld * n), *u = numbers(s, ld * n), *b = numbers(s, n * SIDES);
	int *info = numbers(s, 1);

	return RUN(potrf, 'L', n, l, ld, s->work, lower, info) &&
	       RUN(potrs, 'L', n, SIDES, l, ld, b, n) &&
	       RUN(potrf, 'U', n, u, ld, s->work, upper, info) &&
	       RUN(potrs, 'U', n, SIDES, u, ld, b, n);
}

static inline bool qr(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = leading(s), bytes = ROOM(geqrf, m, n, ld);
	const int64_t left = ROOM(ormqr, 'L', 'T', m, SIDES, n, ld, m);
	const int64_t right = ROOM(ormqr, 'R', 'N', SIDES, m, n, ld, SIDES);
	const int64_t form = ROOM(orgqr, m, n, n, ld);
	void *a = numbers(s, ld * n), *tau = numbers(s, n);
	void *c = numbers(s, m * SIDES), *d = numbers(s, m * SIDES);

	return RUN(geqrf, m, n, a, ld, tau, s->work, bytes) &&
	       RUN(ormqr, 'L', 'T', m, SIDES, n, a, ld, tau, c, m, s->work, left) &&
	       RUN(ormqr, 'R', 'N', SIDES, m, n, a, ld, tau, d, SIDES, s->work, right) &&
	       RUN(orgqr, m, n, n, a, ld, tau, s->work, form);
}

static inline bool least_squares(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = leading(s);
	const int64_t plain = ROOM(gels, 'N', m, n, SIDES, ld, m);
	const int64_t transposed = ROOM(gels, 'T', m, n, SIDES, ld, m);
	void *a = numbers(s, ld * n), *b = numbers(s, m * SIDES);
	void *a_too = numbers(s, ld * n), *b_too = numbers(s, m * SIDES);
	int *info = numbers(s, 1);

	return RUN(gels, 'N', m, n, SIDES, a, ld, b, m, s->work, plain, info) &&
	       RUN(gels, 'T', m, n, SIDES, a_too, ld, b_too, m, s->work, transposed, info);
}

static inline bool products(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = leading(s);
	void *a = numbers(s, ld * n), *b = numbers(s, ld * n), *c = numbers(s, m * m);
	void *x = numbers(s, 2 * m), *y = numbers(s, 2 * m);

	return RUN(gemm, 'N', 'T', m, m, n, 2, a, ld, b, ld, -1, c, m) &&
	       RUN(gemm, 'T', 'N', n, n, m, 1, a, ld, b, ld, 0, c, m) &&
	       RUN(gemv, 'N', m, n, 1, a, ld, x, 1, 1, y, 2) &&
	       RUN(gemv, 'T', m, n, 1, a, ld, y, 2, 1, x, 1);
}

static inline bool gram_schmidt(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = leading(s), all = n + CHANGED;
	const int64_t more = ROOM(orthogonalize, m, n, CHANGED, ld, all);
	void *a = NULL, *r;
	int *info = numbers(s, 1);
	bool good = true;

	for (int i = 0; i < 3; i++) {
		const char form = "MBR"[i];
		const int64_t bytes = ROOM(gramschmidt, form, m, n, ld, all);
		a = numbers(s, ld * all);
		r = numbers(s, all * all);
		good = good && RUN(gramschmidt, form, m, n, a, ld, r, all, s->work, bytes, info);
	}
	r = numbers(s, all * CHANGED);
	return good && RUN(orthogonalize, m, n, CHANGED, a, ld, r, all, s->work, more, info);
}

/* ---- changes of a QR factorization, with room for all of them ---- */

#define CHANGE_ROOM(change, m, n)                                                                  \
	ROOM(qr_update, FATHOM_QR_##change, s->of.jobq, m, n, SIDES, CHANGED)
#define FACTORS q, ld, r, ld, d, ld

/* Columns come and go, then rows; last U V^T is added. */
static inline bool changes(struct fixture *s, void *q, void *r, void *d, int *info)
{
	const int64_t m = s->of.m, n = s->of.n, ld = m + CHANGED, k = CHANGES_AT, p = CHANGED;
	const int64_t bytes[] = {CHANGE_ROOM(ADD_COLUMNS, m, n),
	        CHANGE_ROOM(REMOVE_COLUMNS, m, n + p), CHANGE_ROOM(ADD_ROWS, m, n),
	        CHANGE_ROOM(REMOVE_ROWS, m + p, n), CHANGE_ROOM(MODIFY, m, n)};
	void *columns = numbers(s, ld * p), *rows = numbers(s, p * n), *u = numbers(s, ld * p);
	void *v = numbers(s, n * p), *b = numbers(s, ld * SIDES), *w = s->work;
	const char job = s->of.jobq;

	return RUN(qr_add_columns, job, m, n, SIDES, k, p, columns, ld, b, ld, FACTORS, w, bytes[0],
	               info) &&
	       RUN(qr_remove_columns, job, m, n + p, SIDES, k, p, FACTORS, w, bytes[1]) &&
	       RUN(qr_add_rows, job, m, n, SIDES, k, p, rows, p, b, ld, FACTORS, w, bytes[2]) &&
	       RUN(qr_remove_rows, job, m + p, n, SIDES, k, p, rows, p, b, ld, FACTORS, w, bytes[3],
	               info) &&
	       RUN(qr_modify, job, m, n, SIDES, p, u, ld, v, n, b, ld, FACTORS, w, bytes[4], info);
}

static inline bool qr_changes(struct fixture *s)
{
	const int64_t m = s->of.m, n = s->of.n, ld = m + CHANGED;
	const int64_t bytes = ROOM(qr_factorize, s->of.jobq, m, n, SIDES);
	const int64_t drift = ROOM(qr_drift, s->of.jobq, m, n);
	const bool thin = s->of.jobq == 'S';
	const int64_t again = thin ? ROOM(qr_reorthogonalize, m, n, SIDES) : 0;
	void *a = numbers(s, m * n), *b = numbers(s, m * SIDES), *q = numbers(s, ld * ld);
	void *r = numbers(s, ld * ld), *d = numbers(s, ld * SIDES);
	void *x = numbers(s, n), *sums = numbers(s, 4);
	int *info = numbers(s, 1);

	return RUN(qr_factorize, s->of.jobq, m, n, SIDES, a, m, b, m, FACTORS, s->work, bytes) &&
	       changes(s, q, r, d, info) &&
	       (!thin ||
	               RUN(qr_reorthogonalize, m, n, SIDES, b, m, FACTORS, s->work, again, info)) &&
	       RUN(qr_drift, s->of.jobq, m, n, a, m, q, ld, r, ld, x, sums, s->work, drift);
}
