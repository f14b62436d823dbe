/* SPDX-License-Identifier: MIT */
/* Products by the executor's BLAS in double precision, on copies with zeros outside of the factor's
 * triangle. Operations: 2 * CHECK_VECTORS per matrix element and factor, for QR three times. */
#include "check_whole.h"

#include "lib/base/msg.h"
#include "check_kernels.h"
#include "fixture.h"
#include "matrices.h"
#include "factor/algorithms/schedule.h"
#include "factor/algorithms/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct checking {
	struct timing_fixture memory; /* only its memory is used */
	struct executor *e;
	const struct whole *whole;
	struct matrix a0, a, tau;
	struct pivots pivots;
	struct matrix copy; /* of a matrix, in double */
	int64_t columns;    /* of the vectors: CHECK_VECTORS, or n for all of a matrix */
	enum check_norm norm;
	struct matrix x, ax, y, z; /* vectors: n, m, max(m,n), max(m,n) */
	struct matrix tau_copy;
	double *host; /* one set of vectors */
};

/* ---- copies and random data, which the executor's operations do not make ---- */

static bool done(struct executor *e, const char *what, int error)
{
	if (error == 0)
		error = check_idle();
	return error == 0 || fault_set(&e->fault, "%s failed: CUDA error %d", what, error);
}

static bool on_gpu(const struct executor *e)
{
	return strcmp(e->name, "cuda") == 0;
}

bool whole_widen(struct executor *e, struct matrix from, struct matrix to)
{
	if (!e->ops->sync(e))
		return false;
	if (on_gpu(e))
		return done(e, "the check's copy",
		        check_widen(matrix_address(from), from.ld, from.precision == DOUBLE, from.m,
		                from.n, matrix_address(to), to.ld));
	for (int64_t j = 0; j < from.n; j++)
		for (int64_t i = 0; i < from.m; i++)
			matrix_put(matrix_address(to), DOUBLE, i + j * to.ld,
			        matrix_get(matrix_address(from), from.precision, i + j * from.ld));
	return true;
}

static void fill_host(struct matrix a, bool symmetric, double shift, uint64_t seed)
{
	const enum precision p = a.precision;

	matrix_fill(a.data, a.ld, a.m, a.n, p, MATRIX_RANDOM, seed);
	for (int64_t j = 0; symmetric && j < a.n; j++) {
		const int64_t diagonal = j + j * a.ld;
		matrix_put(a.data, p, diagonal, matrix_get(a.data, p, diagonal) + shift);
		for (int64_t i = 0; i < j; i++)
			matrix_put(a.data, p, i + j * a.ld, matrix_get(a.data, p, j + i * a.ld));
	}
}

bool whole_fill(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed)
{
	bool symmetric = whole->operation == POTRF;
	double shift = symmetric ? 2 * sqrt((double)a.n) + 1 : 0;

	if (!e->ops->sync(e))
		return false;
	if (on_gpu(e))
		return done(e, "random data",
		        check_random(matrix_address(a), a.ld, a.precision == DOUBLE,
		                symmetric ? a.m : a.ld, a.n, seed, symmetric, shift));
	fill_host(a, symmetric, shift, seed);
	return true;
}

/* ---- products ---- */

static struct matrix rows_of(struct matrix a, int64_t m)
{
	return matrix_view(a, 0, 0, m, a.n);
}

static bool multiply(
        struct executor *e, enum trans trans, struct matrix a, struct matrix x, struct matrix y)
{
	return ex_gemm(e, trans, PLAIN, 1, a, rows_of(x, trans == PLAIN ? a.n : a.m), 0,
	        rows_of(y, trans == PLAIN ? a.m : a.n));
}

/* A factor from one triangle of a: m x k from the lower, k x n from the upper, k = min(m, n); zeros
 * elsewhere. */
static bool take_triangle(
        struct checking *s, enum uplo uplo, enum diag diag, struct matrix *triangle)
{
	int64_t k = min_int64(s->a.m, s->a.n);
	struct matrix from = uplo == LOWER ? matrix_view(s->a, 0, 0, s->a.m, k)
	                                   : matrix_view(s->a, 0, 0, k, s->a.n);
	struct matrix t = matrix_view(s->copy, 0, 0, from.m, from.n);

	*triangle = t;
	if (!whole_widen(s->e, from, t))
		return false;
	if (diag == UNIT)
		return ex_fill(s->e, uplo == LOWER ? UPPER : LOWER, 0, 1, t);
	/* The diagonal stays: fill the triangle next to it, as a matrix of its own. */
	if (uplo == LOWER)
		return t.n < 2 || ex_fill(s->e, UPPER, 0, 0, matrix_view(t, 0, 1, t.m, t.n - 1));
	return t.m < 2 || ex_fill(s->e, LOWER, 0, 0, matrix_view(t, 1, 0, t.m - 1, t.n));
}

/* y = L U x */
static bool lu_product(struct checking *s)
{
	struct matrix u, l;

	return take_triangle(s, UPPER, NON_UNIT, &u) && multiply(s->e, PLAIN, u, s->x, s->z) &&
	       take_triangle(s, LOWER, UNIT, &l) && multiply(s->e, PLAIN, l, s->z, s->y);
}

/* y = L L^T x or U^T U x */
static bool cholesky_product(struct checking *s)
{
	bool lower = s->whole->uplo == LOWER;
	struct matrix t;

	return take_triangle(s, s->whole->uplo, NON_UNIT, &t) &&
	       multiply(s->e, lower ? TRANSPOSED : PLAIN, t, s->x, s->z) &&
	       multiply(s->e, lower ? PLAIN : TRANSPOSED, t, s->z, s->y);
}

/* c := op(Q) c, by our ormqr. */
static bool apply_q(struct checking *s, enum trans trans, struct matrix c)
{
	static const int64_t width = 64;
	const struct plan plan = {.panel = "blas", .widths = &width, .count = 1, .leaf = width};
	int64_t k = min_int64(s->a.m, s->a.n);
	struct matrix v = matrix_view(s->copy, 0, 0, s->a.m, k);
	int64_t bytes = ormqr_work(s->e, &plan, LEFT, v, s->tau_copy, c);
	void *work = NULL;
	bool ok = bytes >= 0 && (bytes == 0 || s->e->ops->alloc(s->e, bytes, &work)) &&
	          whole_widen(s->e, s->tau, s->tau_copy) &&
	          whole_widen(s->e, matrix_view(s->a, 0, 0, s->a.m, k), v) &&
	          ormqr(s->e, &plan, LEFT, trans, v, s->tau_copy, c, work) && s->e->ops->sync(s->e);

	if (work)
		s->e->ops->release(s->e, work);
	return ok;
}

/* y = Q R x */
static bool qr_product(struct checking *s)
{
	struct matrix r, y = rows_of(s->y, s->a.m);

	return ex_fill(s->e, WHOLE, 0, 0, y) && take_triangle(s, UPPER, NON_UNIT, &r) &&
	       multiply(s->e, PLAIN, r, s->x, s->y) && apply_q(s, PLAIN, y);
}

/* ---- norms ---- */

static double gather(enum check_norm norm, double so_far, double x)
{
	return norm == FROBENIUS ? so_far + x * x : check_worse(so_far, fabs(x));
}

bool check_difference(struct executor *e, struct matrix a, struct matrix b, enum check_norm norm,
        double *host, double *result)
{
	const int64_t count = a.m * a.n;
	double error = 0, of = 0;

	if (!e->ops->sync(e) || !e->ops->download(e, a, host, a.m) ||
	        !e->ops->download(e, b, host + count, a.m))
		return false;
	for (int64_t i = 0; i < count; i++) {
		of = gather(norm, of, host[i]);
		error = gather(norm, error, host[i] - host[count + i]);
	}
	*result = norm == FROBENIUS ? sqrt(error) / sqrt(of) : error / of;
	return true;
}

/* In LAPACK's units. */
static double ratio(const struct checking *s, double error)
{
	return error / ((double)max_int64(s->a.m, s->a.n) * check_eps(s->a.precision));
}

/* norm(E X) / norm(A X) */
static bool find_error(struct checking *s, double *error)
{
	struct matrix ax = rows_of(s->ax, s->a.m), y = rows_of(s->y, s->a.m);
	bool ok = whole_widen(s->e, s->a0, s->copy) && multiply(s->e, PLAIN, s->copy, s->x, ax);

	if (s->whole->operation == GETRF)
		ok = ok && ex_laswp(s->e, ax, s->pivots, false) && lu_product(s);
	else
		ok = ok && (s->whole->operation == POTRF ? cholesky_product(s) : qr_product(s));
	return ok && check_difference(s->e, ax, y, s->norm, s->host, error);
}

/* With the vectors A x, which have the length that Q needs. */
static bool find_orthogonality(struct checking *s, double *orthogonality)
{
	struct matrix x = rows_of(s->ax, s->a.m), y = rows_of(s->y, s->a.m);
	double error;

	if (!ex_copy(s->e, WHOLE, x, y) || !apply_q(s, PLAIN, y) || !apply_q(s, TRANSPOSED, y) ||
	        !check_difference(s->e, x, y, s->norm, s->host, &error))
		return false;
	*orthogonality = ratio(s, error);
	return true;
}

/* ---- the call ---- */

static bool find_pivots_valid(struct checking *s, bool *valid)
{
	int64_t n = s->pivots.n;
	int *ipiv = xmalloc((size_t)(n + 1) * sizeof *ipiv), info = -1;
	bool ok = s->whole->operation == GEQRF ||
	          s->e->ops->read_pivots(s->e, s->pivots, ipiv, &info);

	*valid = ok && (s->whole->operation == GEQRF || info == 0);
	for (int64_t j = 0; s->whole->operation == GETRF && j < n && *valid; j++)
		*valid = ipiv[j] > j && ipiv[j] <= s->a.m;
	free(ipiv);
	return ok;
}

static bool take_memory(struct checking *s)
{
	struct timing_fixture *memory = &s->memory;
	int64_t m = s->a.m, n = s->a.n, k = min_int64(m, n), most = max_int64(m, n), v = s->columns;

	s->host = xmalloc((size_t)(2 * most * v) * sizeof *s->host);
	return fixture_matrix(memory, &s->copy, m, n, m, DOUBLE) &&
	       fixture_matrix(memory, &s->tau_copy, k, 1, k, DOUBLE) &&
	       fixture_matrix(memory, &s->x, n, v, n, DOUBLE) &&
	       fixture_matrix(memory, &s->ax, m, v, m, DOUBLE) &&
	       fixture_matrix(memory, &s->y, most, v, most, DOUBLE) &&
	       fixture_matrix(memory, &s->z, most, v, most, DOUBLE);
}

static bool fill_random(struct checking *s)
{
	matrix_fill(s->host, s->x.m, s->x.m, s->x.n, DOUBLE, MATRIX_RANDOM, 4711);
	return s->e->ops->upload(s->e, s->host, s->x.m, s->x);
}

static void give_memory(struct checking *s)
{
	fixture_close(&s->memory);
	free(s->host);
}

/* With a few random columns for X. */
static struct checking checking_of(struct executor *e, const struct whole *whole, struct matrix a0,
        struct matrix a, struct pivots pivots, struct matrix tau)
{
	return (struct checking){.memory.executor = e,
	        .e = e,
	        .whole = whole,
	        .a0 = a0,
	        .a = a,
	        .tau = tau,
	        .pivots = pivots,
	        .columns = CHECK_VECTORS};
}

bool check_whole(struct executor *e, const struct whole *whole, struct matrix a0, struct matrix a,
        struct pivots pivots, struct matrix tau, struct whole_check *check)
{
	struct checking s = checking_of(e, whole, a0, a, pivots, tau);
	bool qr = whole->operation == GEQRF;

	*check = (struct whole_check){.residual = NAN, .orthogonality = NAN};
	e->queue = QUEUE_MAIN;
	if (!find_pivots_valid(&s, &check->pivots_valid))
		return false;
	if (!check->pivots_valid)
		return true;
	double error = NAN;
	bool ok = take_memory(&s) && fill_random(&s) && find_error(&s, &error);
	check->residual = ratio(&s, error);
	ok = ok && (!qr || find_orthogonality(&s, &check->orthogonality));
	give_memory(&s);
	check->passed = ok && check->residual < CHECK_THRESHOLD &&
	                (!qr || check->orthogonality < CHECK_THRESHOLD);
	return ok;
}

/* With the identity for X. */
bool check_error(struct executor *e, const struct whole *whole, struct matrix a0, struct matrix a,
        struct pivots pivots, struct matrix tau, enum check_norm norm, double *error)
{
	struct checking s = checking_of(e, whole, a0, a, pivots, tau);

	*error = NAN;
	s.columns = a.n;
	s.norm = norm;
	e->queue = QUEUE_MAIN;
	bool ok = take_memory(&s) && ex_fill(e, WHOLE, 0, 1, s.x) && find_error(&s, error);
	give_memory(&s);
	*error /= 2 * check_eps(a.precision);
	return ok;
}
