/* SPDX-License-Identifier: MIT */
/* Changes by one row or column compared with qrupdate, the Fortran library (J. Hajek), on the host
 * executor and on the GPU: R up to the signs of its rows, residual and orthogonality of both. */
#include "changed_matrix.h"
#include "factor_test.h"

#ifndef FATHOM_QRUPDATE

int main(void)
{
	skip_all("built without qrupdate (make setup installs libqrupdate-dev)");
}

#else

#include "factor/algorithms/qr_refactor.h"

#include <inttypes.h>
#include <lapacke.h>

/* Insert and delete column and row: m x n, k columns of Q; j is 1-based, w workspace. */
#define DECLARE(p, real)                                                                           \
	void p##qrinc_(const int *m, const int *n, const int *k, real *q, const int *ldq, real *r, \
	        const int *ldr, const int *j, const real *x, real *w);                             \
	void p##qrdec_(const int *m, const int *n, const int *k, real *q, const int *ldq, real *r, \
	        const int *ldr, const int *j, real *w);                                            \
	void p##qrinr_(const int *m, const int *n, real *q, const int *ldq, real *r,               \
	        const int *ldr, const int *j, real *x, real *w);                                   \
	void p##qrder_(const int *m, const int *n, real *q, const int *ldq, real *r,               \
	        const int *ldr, const int *j, real *w);
DECLARE(s, float)
DECLARE(d, double)

#define THEIRS(p, name, ...) ((p) == SINGLE ? s##name##_(__VA_ARGS__) : d##name##_(__VA_ARGS__))

enum { M = 90, N = 41, LD = M + 2, COUNT = LD * LD };

/* Arrays of the precision, LD rows. */
static void *array(enum precision p)
{
	return xcalloc(COUNT, (size_t)precision_bytes(p));
}

struct pair {
	enum precision p;
	void *a;     /* before: M x N */
	void *x;     /* the inserted row or column */
	void *q, *r; /* theirs, full; R has all of A's rows */
	void *ours_q, *ours_r;
	int m, n; /* after */
};

/* LAPACK's full factorization, for both. */
static struct pair pair_new(enum precision p)
{
	struct pair s = {p, array(p), array(p), array(p), array(p), array(p), array(p), M, N};
	void *tau = array(p);

	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++)
			put(s.a, i + j * LD, p, test_random(9 + (uint64_t)j, i));
	for (int i = 0; i < LD; i++)
		put(s.x, i, p, test_random(8, i));
	memcpy(s.q, s.a, COUNT * (size_t)precision_bytes(p));
	if (p == SINGLE) {
		LAPACKE_sgeqrf_work(LAPACK_COL_MAJOR, M, N, s.q, LD, tau, s.ours_q, COUNT);
	} else {
		LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, M, N, s.q, LD, tau, s.ours_q, COUNT);
	}
	for (int j = 0; j < N; j++)
		for (int i = 0; i <= j; i++)
			put(s.r, i + j * LD, p, get(s.q, i + j * LD, p));
	if (p == SINGLE)
		LAPACKE_sorgqr_work(LAPACK_COL_MAJOR, M, M, N, s.q, LD, tau, s.ours_q, COUNT);
	else
		LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, M, M, N, s.q, LD, tau, s.ours_q, COUNT);
	free(tau);
	return s;
}

static void pair_free(struct pair *s)
{
	void *all[] = {s->a, s->x, s->q, s->r, s->ours_q, s->ours_r};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		free(all[i]);
}

static void change_theirs(struct pair *s, enum qr_change change, int k)
{
	const int m = M, n = N, ld = LD, j = k + 1;
	void *w = array(s->p), *x = array(s->p);

	memcpy(x, s->x, LD * (size_t)precision_bytes(s->p));
	if (change == QR_ADD_COLUMNS)
		THEIRS(s->p, qrinc, &m, &n, &m, s->q, &ld, s->r, &ld, &j, x, w);
	else if (change == QR_REMOVE_COLUMNS)
		THEIRS(s->p, qrdec, &m, &n, &m, s->q, &ld, s->r, &ld, &j, w);
	else if (change == QR_ADD_ROWS)
		THEIRS(s->p, qrinr, &m, &n, s->q, &ld, s->r, &ld, &j, x, w);
	else
		THEIRS(s->p, qrder, &m, &n, s->q, &ld, s->r, &ld, &j, w);
	free(w);
	free(x);
}

/* ---- ours ---- */

static struct matrix on_executor(
        struct executor *e, struct test_memory *memory, const void *host, int n, enum precision p)
{
	struct matrix a = {NULL, 0, LD, n, LD, p};

	if (!test_open(e, memory, (int64_t)LD * n * precision_bytes(p), 0xff))
		diag("%s", e->fault.text);
	a.data = memory->data;
	if (host)
		e->ops->upload(e, host, LD, a);
	return a;
}

static bool run_ours(struct executor *e, struct pair *s, struct qr_factors *f,
        enum qr_change change, int k, struct matrix x)
{
	struct test_memory work, info;
	int64_t bytes = qr_update_work(e, f, change, 1);
	struct matrix none = {NULL, 0, 0, 0, 1, s->p};
	bool good = bytes >= 0 && test_open(e, &work, bytes, 0xff) && test_open(e, &info, 4, 0);

	if (!good)
		return false;
	x.m = change == QR_ADD_COLUMNS ? M : 1;
	x.n = change == QR_ADD_COLUMNS ? 1 : N;
	x.ld = change == QR_ADD_COLUMNS ? LD : 1;
	good = qr_update(e, f, change, k, 1, x, none, none, work.data, info.data);
	good = good && e->ops->sync(e);
	return test_close(e, &work) && test_close(e, &info) && good;
}

static bool change_ours(struct executor *e, struct pair *s, enum qr_change change, int k)
{
	struct test_memory q, r, x;
	struct qr_factors f = {.m = M, .n = N, .kept = Q_FULL};

	f.q = on_executor(e, &q, s->q, LD, s->p);
	f.r = on_executor(e, &r, s->r, LD, s->p);
	f.d = (struct matrix){NULL, 0, 0, 0, 1, s->p};
	bool good = run_ours(e, s, &f, change, k, on_executor(e, &x, s->x, 1, s->p)) &&
	            e->ops->download(e, f.q, s->ours_q, LD) &&
	            e->ops->download(e, f.r, s->ours_r, LD);
	s->m = (int)f.m;
	s->n = (int)f.n;
	return test_close(e, &q) && test_close(e, &r) && test_close(e, &x) && good;
}

/* ---- both ---- */

/* The changed matrix, in double precision. */
static double *changed(const struct pair *s, enum qr_change change, int k)
{
	bool columns = s->n != N, more = change == QR_ADD_COLUMNS || change == QR_ADD_ROWS;
	double *a = to_doubles(s->a, LD, M, N, s->p), *x = to_doubles(s->x, LD, LD, 1, s->p);

	a = (columns ? change_columns : change_rows)(a, M, N, k, 1, more ? x : NULL);
	free(x);
	return a;
}

/* The larger of the ratios of A - Q R and I - Q^T Q. */
static double ratio_of(const struct pair *s, const double *a, const void *q, const void *r)
{
	int64_t m = s->m, n = s->n;
	double eps = unit_roundoff(s->p), *fq = to_doubles(q, LD, m, m, s->p);
	double *fr = to_doubles(r, LD, n, n, s->p), *rest = xmalloc((size_t)(m * m) * sizeof *rest);

	memcpy(rest, a, (size_t)(m * n) * sizeof *rest);
	multiply(CblasNoTrans, CblasNoTrans, m, n, n, -1, fq, fr, 1, rest);
	double worst = test_ratio(norm_one(rest, m, n), m, norm_one(a, m, n), eps);
	for (int64_t i = 0; i < m * m; i++)
		rest[i] = i % (m + 1) == 0;
	multiply(CblasTrans, CblasNoTrans, m, m, m, -1, fq, fq, 1, rest);
	worst = worse(worst, test_ratio(norm_one(rest, m, m), m, 1, eps));
	free(fq);
	free(fr);
	free(rest);
	return worst;
}

/* Largest difference of the two R, over its norm, condition (by the diagonal), m and eps. */
static double r_difference(const struct pair *s)
{
	double worst = 0, norm = 0, smallest = INFINITY;

	for (int i = 0; i < s->n; i++) {
		double mine = get(s->ours_r, i + (int64_t)i * LD, s->p);
		double other = get(s->r, i + (int64_t)i * LD, s->p),
		       sign = mine * other < 0 ? -1 : 1;
		smallest = fmin(smallest, fabs(other));
		for (int j = i; j < s->n; j++) {
			double x = get(s->ours_r, i + (int64_t)j * LD, s->p);
			double y = get(s->r, i + (int64_t)j * LD, s->p);
			worst = worse(worst, fabs(x - sign * y));
			norm = fmax(norm, fabs(y));
		}
	}
	return worst / (norm * norm / smallest * s->m * unit_roundoff(s->p));
}

static void check(struct executor *e, enum precision p, enum qr_change change, int k)
{
	struct pair s = pair_new(p);
	bool good = change_ours(e, &s, change, k);
	double *a = changed(&s, change, k);

	change_theirs(&s, change, k);
	double ours = ratio_of(&s, a, s.ours_q, s.ours_r), theirs = ratio_of(&s, a, s.q, s.r);
	double apart = r_difference(&s);
	ok(good && ours < 30 && theirs < 30 && apart < 30,
	        "%c, %s, one at %d: R apart %.2g, ours %.2g, qrupdate %.2g", p,
	        qr_change_name[change], k, apart, ours, theirs);
	free(a);
	pair_free(&s);
}

static void test(struct executor *e)
{
	for (int single = 0; single < 2; single++)
		for (int change = QR_REMOVE_COLUMNS; change <= QR_REMOVE_ROWS; change++) {
			bool columns = change == QR_REMOVE_COLUMNS || change == QR_ADD_COLUMNS;
			bool more = change == QR_ADD_COLUMNS || change == QR_ADD_ROWS;
			const int last = (columns ? N : M) - !more, at[] = {0, 17, last};
			for (size_t i = 0; i < ARRAY_LEN(at); i++)
				check(e, single ? SINGLE : DOUBLE, (enum qr_change)change, at[i]);
		}
}

int main(void)
{
	return test_on_executors(test);
}

#endif
