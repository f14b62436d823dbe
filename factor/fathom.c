/* SPDX-License-Identifier: MIT */
/* The calls of fathom.h, of both precisions: arguments checked, the default plan, the algorithm. */
#include "fathom_handle.h"

#include "geqrf.h"
#include "getrf.h"
#include "potrf.h"
#include "schedule.h"
#include "solve.h"

#include <inttypes.h>

static struct matrix as_matrix(
        const void *data, int64_t m, int64_t n, int64_t ld, enum precision precision)
{
	return (struct matrix){(void *)(uintptr_t)data, 0, m, n, ld, precision};
}

/* count elements next to each other */
static struct matrix as_column(const void *data, int64_t count, enum precision precision)
{
	return as_matrix(data, count, 1, larger(count, 1), precision);
}

static bool matrix_given(struct fathom *h, const char *name, struct matrix a)
{
	return call_given(h, name, a.data, a.m * a.n);
}

static void choose(
        struct fathom *h, enum operation operation, struct matrix a, struct default_plan *chosen)
{
	plan_default(h->e, operation, a.m, a.n, a.precision, h->host_panels, chosen);
}

/* ---- LU ---- */

/* The workspace: pivots and info, as the algorithm wants them, then its own. */
struct lu_call {
	struct default_plan chosen;
	struct matrix a;
	struct pivots pivots;
	void *work;
	int64_t bytes; /* -1: refused */
};

static void lu_set_up(struct fathom *h, struct lu_call *c, struct matrix a, void *work)
{
	struct carver carver = {work, 0};
	int64_t count = smaller(a.m, a.n);

	c->a = a;
	c->bytes = -1;
	if (!call_shape(h, "A", a))
		return;
	choose(h, OPERATION_LU, a, &c->chosen);
	c->pivots = (struct pivots){carve_integers(&carver, count + 1), count};
	c->work = carve_bytes(&carver, 0);
	int64_t inner = getrf_work(h->e, &c->chosen.plan, a);
	c->bytes = inner < 0 ? -1 : carver.used + inner;
}

static bool lu_run(struct fathom *h, const struct lu_call *c, int *ipiv, int *info)
{
	struct pivots p = c->pivots;
	size_t bytes = (size_t)p.n * sizeof *ipiv;
	cudaStream_t stream = stream_of(h->cuda);

	return getrf(h->e, &c->chosen.plan, c->a, c->work, p) &&
	       (bytes == 0 || cuda_ok(h->cuda,
	                              cudaMemcpyAsync(ipiv, p.data, bytes, cudaMemcpyDeviceToDevice,
	                                      stream),
	                              "ipiv")) &&
	       cuda_ok(h->cuda,
	               cudaMemcpyAsync(
	                       info, p.data + p.n, sizeof *info, cudaMemcpyDeviceToDevice, stream),
	               "info");
}

static int64_t lu_work(struct fathom *h, struct matrix a)
{
	struct lu_call c;

	if (!h)
		return -1;
	lu_set_up(h, &c, a, NULL);
	return c.bytes;
}

static enum fathom_status lu(
        struct fathom *h, struct matrix a, int *ipiv, void *work, int64_t work_bytes, int *info)
{
	enum fathom_status status;
	struct lu_call c;

	if (!h)
		return FATHOM_BAD_ARGUMENT;
	lu_set_up(h, &c, a, work);
	if (!call_work(h, work, work_bytes, c.bytes) || !matrix_given(h, "A", a) ||
	        !call_given(h, "ipiv", ipiv, c.pivots.n) || !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, lu_run(h, &c, ipiv, info));
}

static enum trans flipped(enum trans trans)
{
	return trans == PLAIN ? TRANSPOSED : PLAIN;
}

static enum fathom_status lu_solve(
        struct fathom *h, char letter, bool rows, struct matrix a, const int *ipiv, struct matrix b)
{
	enum fathom_status status;
	enum trans trans;

	if (!h || !call_trans(h, letter, &trans) || !call_shape(h, "A", a) ||
	        !call_shape(h, "B", b) || !matrix_given(h, "A", a) || !matrix_given(h, "B", b) ||
	        !call_given(h, "ipiv", ipiv, a.n))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	struct pivots pivots = {(int *)(uintptr_t)ipiv, a.n};
	return call_end(h, getrs(h->e, rows ? flipped(trans) : trans, a, pivots, b));
}

/* ---- Cholesky ---- */

static int64_t cholesky_set_up(struct fathom *h, char letter, struct matrix a, enum uplo *uplo,
        struct default_plan *chosen)
{
	if (!call_uplo(h, letter, uplo) || !call_shape(h, "A", a))
		return -1;
	choose(h, OPERATION_CHOLESKY, a, chosen);
	return potrf_work(h->e, &chosen->plan, *uplo, a);
}

static int64_t cholesky_work(struct fathom *h, char letter, struct matrix a)
{
	struct default_plan chosen;
	enum uplo uplo;

	return h ? cholesky_set_up(h, letter, a, &uplo, &chosen) : -1;
}

static enum fathom_status cholesky(
        struct fathom *h, char letter, struct matrix a, void *work, int64_t work_bytes, int *info)
{
	struct default_plan chosen;
	enum fathom_status status;
	enum uplo uplo;

	if (!h || !call_work(h, work, work_bytes, cholesky_set_up(h, letter, a, &uplo, &chosen)) ||
	        !matrix_given(h, "A", a) || !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, potrf(h->e, &chosen.plan, uplo, a, work, info));
}

static enum fathom_status cholesky_solve(
        struct fathom *h, char letter, struct matrix a, struct matrix b)
{
	enum fathom_status status;
	enum uplo uplo;

	if (!h || !call_uplo(h, letter, &uplo) || !call_shape(h, "A", a) ||
	        !call_shape(h, "B", b) || !matrix_given(h, "A", a) || !matrix_given(h, "B", b))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, potrs(h->e, uplo, a, b));
}

/* ---- QR ---- */

static int64_t qr_set_up(struct fathom *h, struct matrix a, struct default_plan *chosen)
{
	if (!call_shape(h, "A", a))
		return -1;
	choose(h, OPERATION_QR, a, chosen);
	return geqrf_work(h->e, &chosen->plan, a);
}

static int64_t qr_work(struct fathom *h, struct matrix a)
{
	struct default_plan chosen;

	return h ? qr_set_up(h, a, &chosen) : -1;
}

static enum fathom_status qr(
        struct fathom *h, struct matrix a, void *tau, void *work, int64_t work_bytes)
{
	struct matrix column = as_column(tau, smaller(a.m, a.n), a.precision);
	struct default_plan chosen;
	enum fathom_status status;

	if (!h || !call_work(h, work, work_bytes, qr_set_up(h, a, &chosen)) ||
	        !matrix_given(h, "A", a) || !matrix_given(h, "tau", column))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, geqrf(h->e, &chosen.plan, a, column, work));
}

/* a: the k reflectors, as long as C's columns (LEFT) or rows */
struct apply_call {
	struct default_plan chosen;
	enum side side;
	enum trans trans;
	struct matrix a, tau, c;
};

static int64_t apply_set_up(struct fathom *h, struct apply_call *call, char side, char trans,
        int64_t k, const void *a, int64_t lda, const void *tau, struct matrix c)
{
	if (!call_side(h, side, &call->side) || !call_trans(h, trans, &call->trans))
		return -1;
	call->a = as_matrix(a, call->side == LEFT ? c.m : c.n, k, lda, c.precision);
	call->tau = as_column(tau, k, c.precision);
	call->c = c;
	if (!call_shape(h, "A", call->a) || !call_shape(h, "C", c))
		return -1;
	choose(h, OPERATION_QR, call->a, &call->chosen);
	return ormqr_work(h->e, &call->chosen.plan, call->side, call->a, call->tau, c);
}

static int64_t apply_work(
        struct fathom *h, char side, char trans, int64_t k, int64_t lda, struct matrix c)
{
	struct apply_call call;

	return h ? apply_set_up(h, &call, side, trans, k, NULL, lda, NULL, c) : -1;
}

static enum fathom_status apply(struct fathom *h, char side, char trans, int64_t k, const void *a,
        int64_t lda, const void *tau, struct matrix c, void *work, int64_t work_bytes)
{
	struct apply_call call;
	enum fathom_status status;

	if (!h ||
	        !call_work(h, work, work_bytes,
	                apply_set_up(h, &call, side, trans, k, a, lda, tau, c)) ||
	        !matrix_given(h, "A", call.a) || !matrix_given(h, "tau", call.tau) ||
	        !matrix_given(h, "C", c))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h,
	        ormqr(h->e, &call.chosen.plan, call.side, call.trans, call.a, call.tau, c, work));
}

/* The algorithm wants the reflectors elsewhere than Q: they are copied into the workspace. */
struct form_call {
	struct default_plan chosen;
	struct matrix reflectors, tau;
	void *work;
	int64_t bytes; /* -1: refused */
};

static void form_set_up(struct fathom *h, struct form_call *c, int64_t k, struct matrix q,
        const void *tau, void *work)
{
	struct carver carver = {work, 0};

	c->bytes = -1;
	if (!call_shape(h, "A", q))
		return;
	if (k < 0 || k > q.n || q.n > q.m) {
		call_refuse(h,
		        "Q of m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
		        ": m >= n >= k >= 0 is needed",
		        q.m, q.n, k);
		return;
	}
	c->reflectors = carve_matrix(&carver, q.m, k, q.precision);
	c->reflectors.ld = larger(c->reflectors.ld, 1);
	c->tau = as_column(tau, k, q.precision);
	c->work = carve_bytes(&carver, 0);
	choose(h, OPERATION_QR, c->reflectors, &c->chosen);
	int64_t inner = orgqr_work(h->e, &c->chosen.plan, c->reflectors, c->tau, q);
	c->bytes = inner < 0 ? -1 : carver.used + inner;
}

static int64_t form_work(struct fathom *h, int64_t k, struct matrix q)
{
	struct form_call c;

	if (!h)
		return -1;
	form_set_up(h, &c, k, q, NULL, NULL);
	return c.bytes;
}

static enum fathom_status form(struct fathom *h, int64_t k, struct matrix q, const void *tau,
        void *work, int64_t work_bytes)
{
	enum fathom_status status;
	struct form_call c;

	if (!h)
		return FATHOM_BAD_ARGUMENT;
	form_set_up(h, &c, k, q, tau, work);
	if (!call_work(h, work, work_bytes, c.bytes) || !matrix_given(h, "A", q) ||
	        !matrix_given(h, "tau", c.tau))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, ex_copy(h->e, matrix_view(q, 0, 0, q.m, k), c.reflectors) &&
	                           orgqr(h->e, &c.chosen.plan, c.reflectors, c.tau, q, c.work));
}

static int64_t least_squares_set_up(struct fathom *h, char letter, struct matrix a, struct matrix b,
        enum trans *trans, struct default_plan *chosen)
{
	if (!call_trans(h, letter, trans) || !call_shape(h, "A", a) || !call_shape(h, "B", b))
		return -1;
	choose(h, OPERATION_QR, a, chosen);
	return gels_work(h->e, &chosen->plan, a, b);
}

static int64_t least_squares_work(struct fathom *h, char letter, struct matrix a, struct matrix b)
{
	struct default_plan chosen;
	enum trans trans;

	return h ? least_squares_set_up(h, letter, a, b, &trans, &chosen) : -1;
}

static enum fathom_status least_squares(struct fathom *h, char letter, struct matrix a,
        struct matrix b, void *work, int64_t work_bytes)
{
	struct default_plan chosen;
	enum fathom_status status;
	enum trans trans;

	if (!h ||
	        !call_work(h, work, work_bytes,
	                least_squares_set_up(h, letter, a, b, &trans, &chosen)) ||
	        !matrix_given(h, "A", a) || !matrix_given(h, "B", b))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, gels(h->e, &chosen.plan, trans, a, b, work));
}

/* ---- BLAS ---- */

/* A vector as a column when its elements are next to each other, else as a row of a matrix. */
static struct matrix as_vector(
        const void *data, int64_t count, int64_t increment, enum precision precision)
{
	return increment == 1 ? as_column(data, count, precision)
	                      : as_matrix(data, 1, count, increment, precision);
}

static enum fathom_status multiply_vector(struct fathom *h, char letter, double alpha,
        struct matrix a, const void *x, int64_t incx, double beta, void *y, int64_t incy)
{
	enum fathom_status status;
	enum trans trans;

	if (!h || !call_trans(h, letter, &trans) || !call_shape(h, "A", a))
		return FATHOM_BAD_ARGUMENT;
	struct matrix in = as_vector(x, trans == PLAIN ? a.n : a.m, incx, a.precision);
	struct matrix out = as_vector(y, trans == PLAIN ? a.m : a.n, incy, a.precision);
	if (!call_shape(h, "x", in) || !call_shape(h, "y", out) || !matrix_given(h, "A", a) ||
	        !matrix_given(h, "x", in) || !matrix_given(h, "y", out))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, ex_gemv(h->e, trans, alpha, a, in, beta, out));
}

/* ---- fathom.h ---- */

#define REAL float
#define PRECISION SINGLE
#define NAME(x) fathom_s##x
#include "fathom_template.h"
#undef REAL
#undef PRECISION
#undef NAME

#define REAL double
#define PRECISION DOUBLE
#define NAME(x) fathom_d##x
#include "fathom_template.h"
