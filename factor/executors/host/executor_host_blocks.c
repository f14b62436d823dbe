/* SPDX-License-Identifier: MIT */
/* The host executor's timing, stages, and operations on blocks, by OpenBLAS and LAPACKE. Plain C
 * replaces calls that break the interface's promises: a NaN pivot of Cholesky, inverses with exact
 * zeros. */
#include "executor_host.h"

#include "lib/host/clock.h"
#include "factor/kernels/lu/host_panel.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of workspace for LAPACK's geqrf: at least its block size. */
enum { GEQRF_BLOCK = 64 };

/* Below this number of floating-point operations a BLAS call runs on one thread. */
static const double parallel_flops = 1 << 24;

static CBLAS_TRANSPOSE blas_trans(enum trans trans)
{
	return trans == PLAIN ? CblasNoTrans : CblasTrans;
}

static CBLAS_UPLO blas_uplo(enum uplo uplo)
{
	return uplo == LOWER ? CblasLower : CblasUpper;
}

static CBLAS_DIAG blas_diag(enum diag diag)
{
	return diag == UNIT ? CblasUnit : CblasNonUnit;
}

#define REAL float
#define NAME(x) x##_s
#define BLAS(x) cblas_s##x
#define LAPACK(x) LAPACKE_s##x
#define root_s sqrtf
#define hypot_s hypotf
#include "executor_host_blocks_template.h"

#define REAL double
#define NAME(x) x##_d
#define BLAS(x) cblas_d##x
#define LAPACK(x) LAPACKE_d##x
#define root_d sqrt
#define hypot_d hypot
#include "executor_host_blocks_template.h"

static void threads_for(double flops)
{
	host_threads_begin(flops >= parallel_flops);
}

static void threads_for_panel(struct matrix a)
{
	int64_t bytes = a.m * a.n * precision_bytes(a.precision);

	host_threads_begin(bytes >= HOST_PANEL_PARALLEL_BYTES);
}

bool host_mark(struct executor *e, int64_t index)
{
	struct host_executor *h = (struct host_executor *)e;

	if (index >= h->mark_count) {
		h->mark_count = 2 * index + 64;
		h->marks = xrealloc(h->marks, (size_t)h->mark_count * sizeof *h->marks);
	}
	h->marks[index] = clock_now();
	return true;
}

bool host_elapsed(struct executor *e, int64_t from, int64_t to, double *seconds)
{
	const struct host_executor *h = (struct host_executor *)e;

	*seconds = h->marks[to] - h->marks[from];
	return true;
}

bool host_event(struct executor *e, int event)
{
	if (event < 0 || event >= EXECUTOR_EVENTS)
		return fault_set(&e->fault, "event %d is not below %d", event, EXECUTOR_EVENTS);
	return true;
}

bool host_stage(struct executor *e, int stage, int64_t m, int64_t n, enum precision precision,
        struct matrix *host)
{
	struct host_executor *h = (struct host_executor *)e;
	int64_t bytes = m * n * precision_bytes(precision);

	if (bytes > h->stages[stage].bytes) {
		e->ops->release(e, h->stages[stage].data);
		h->stages[stage].bytes = 0;
		if (!e->ops->alloc(e, bytes, &h->stages[stage].data))
			return false;
		h->stages[stage].bytes = bytes;
	}
	*host = (struct matrix){h->stages[stage].data, 0, m, n, m, precision};
	return true;
}

bool host_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p)
{
	threads_for_panel(host);
	int info = CALL(host, getrf, host, p.data);
	host_threads_end();
	if (info < 0)
		return fault_set(&e->fault, "LAPACKE getrf refuses its argument %d", -info);
	p.data[p.n] = info;
	return true;
}

int64_t host_geqrf_work(struct executor *e, struct matrix a)
{
	(void)e;
	return a.n * GEQRF_BLOCK * precision_bytes(a.precision);
}

bool host_panel_geqrf(struct executor *e, struct matrix a, struct matrix tau, void *work)
{
	threads_for_panel(a);
	int info = CALL(a, geqrf, a, tau, work);
	host_threads_end();
	return info == 0 || fault_set(&e->fault, "LAPACKE geqrf refuses its argument %d", -info);
}

bool host_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	void *work = xmalloc((size_t)host_geqrf_work(e, host));
	bool ok = host_panel_geqrf(e, host, tau, work);

	free(work);
	return ok;
}

static struct matrix top_square(struct matrix a)
{
	int64_t n = a.m < a.n ? a.m : a.n;

	return matrix_view(a, 0, 0, n, n);
}

/* The rows below the square of a lower trapezoid, or the columns right of an upper one's. */
static struct matrix behind_square(enum uplo uplo, struct matrix a)
{
	return uplo == LOWER ? matrix_view(a, a.n, 0, a.m - a.n, a.n)
	                     : matrix_view(a, 0, a.m, a.m, a.n - a.m);
}

bool host_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	struct matrix block = top_square(host);

	threads_for_panel(host);
	host_store_info(info, CALL(host, fast_potrf, uplo, block), first);
	host_threads_end();
	return ex_trsm(e, uplo == LOWER ? RIGHT : LEFT, uplo, TRANSPOSED, NON_UNIT, 1, block,
	        behind_square(uplo, host));
}

bool host_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c)
{
	(void)e;
	threads_for(2.0 * (double)c.m * (double)c.n * (double)(ta == PLAIN ? a.n : a.m));
	CALL(c, gemm, ta, tb, alpha, a, b, beta, c);
	host_threads_end();
	return true;
}

bool host_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        double beta, struct matrix c)
{
	struct matrix square = top_square(c), rest = behind_square(uplo, c);
	int64_t n = square.n, more = c.m + c.n - 2 * n;
	struct matrix top =
	        trans == PLAIN ? matrix_view(a, 0, 0, n, a.n) : matrix_view(a, 0, 0, a.m, n);
	struct matrix others =
	        trans == PLAIN ? matrix_view(a, n, 0, more, a.n) : matrix_view(a, 0, n, a.m, more);
	enum trans other = trans == PLAIN ? TRANSPOSED : PLAIN;

	threads_for((double)n * (double)n * (double)(trans == PLAIN ? a.n : a.m));
	CALL(c, syrk, uplo, trans, alpha, top, beta, square);
	host_threads_end();
	if (more == 0)
		return true;
	return uplo == LOWER ? host_gemm(e, trans, other, alpha, others, top, beta, rest)
	                     : host_gemm(e, trans, other, alpha, top, others, beta, rest);
}

bool host_trsm(struct executor *e, enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        double alpha, struct matrix a, struct matrix b)
{
	(void)e;
	threads_for((double)a.n * (double)b.m * (double)b.n);
	CALL(b, trsm, side, uplo, trans, diag, alpha, a, b);
	host_threads_end();
	return true;
}

bool host_trsm_guard(struct executor *e, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b)
{
	if (CALL(a, trusted, uplo, diag, a, inverse))
		return true;
	return host_copy(e, WHOLE, kept, b) && host_trsm(e, side, uplo, trans, diag, 1, a, b);
}

RESULT(nrm2, x, norm, (struct matrix x, double *norm), x)

bool host_gemv(struct executor *e, enum trans trans, double alpha, struct matrix a, struct matrix x,
        double beta, struct matrix y)
{
	(void)e;
	threads_for(2.0 * (double)a.m * (double)a.n);
	CALL(a, gemv, trans, alpha, a, x, beta, y);
	host_threads_end();
	return true;
}

FORWARD(trtri, a, (enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse), uplo,
        diag, a, inverse)
FORWARD(laswp, a, (struct matrix a, struct pivots p, bool backwards), a, p, backwards)

bool host_potrf_block(struct executor *e, enum uplo uplo, struct matrix a, int64_t first, int *info)
{
	struct matrix block = top_square(a);

	if (*info != 0)
		return true;
	host_store_info(info, CALL(a, potrf, uplo, block), first);
	return *info != 0 || ex_trsm(e, uplo == LOWER ? RIGHT : LEFT, uplo, TRANSPOSED, NON_UNIT, 1,
	                             block, behind_square(uplo, a));
}

FORWARD(explicit_v, a, (struct matrix a, struct matrix v), a, v)
FORWARD(larft, v, (struct matrix v, struct matrix tau, struct matrix t), v, tau, t)
FORWARD(make_rotations, x, (int64_t row, struct matrix x, struct matrix g), row, x, g)

bool host_rotate(struct executor *e, struct matrix g, struct matrix x)
{
	(void)e;
	for (int64_t i = 0; i < g.n; i++)
		CALL(x, rotate_pair, matrix_view(g, 0, i, 2, 1), matrix_view(x, 0, 2 * i, x.m, 2));
	return true;
}

FORWARD(transpose, a, (struct matrix a, struct matrix b), a, b)
FORWARD(copy, from, (enum uplo uplo, struct matrix from, struct matrix to), uplo, from, to)
FORWARD(fill, a, (enum uplo uplo, double off, double on, struct matrix a), uplo, off, on, a)
