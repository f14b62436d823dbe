/* SPDX-License-Identifier: MIT */
/* The host executor's operations on columns and blocks, by OpenBLAS and LAPACKE. BLAS 1 and 2 calls
 * on short vectors take one thread, because these do not repay waking others. Plain C replaces
 * calls that break the interface's promises: a NaN pivot of Cholesky, inverses with exact zeros. */
#include "executor_host.h"

#include "factor/kernels/lu/host_panel.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

/* Columns of workspace for LAPACK's geqrf: at least its block size. */
enum { GEQRF_BLOCK = 64 };

/* Below this number of floating-point operations a BLAS call runs on one thread. */

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
#define REAL_SAFE FLT_MIN
#define NAME(x) x##_s
#define BLAS(x) cblas_s##x
#define IAMAX cblas_isamax
#define LAPACK(x) LAPACKE_s##x
#define root_s sqrtf
#define hypot_s hypotf
#include "executor_host_template.h"

#define REAL double
#define REAL_SAFE DBL_MIN
#define NAME(x) x##_d
#define BLAS(x) cblas_d##x
#define IAMAX cblas_idamax
#define LAPACK(x) LAPACKE_d##x
#define root_d sqrt
#define hypot_d hypot
#include "executor_host_template.h"

/* Operations that are one function of the matrix's precision; RESULT stores its value. */
#define FORWARD(name, of, parameters, ...)                                                         \
	bool host_##name(struct executor *e, EXECUTOR_LIST parameters)                             \
	{                                                                                          \
		(void)e;                                                                           \
		CALL(of, name, __VA_ARGS__);                                                       \
		return true;                                                                       \
	}
#define RESULT(name, of, result, parameters, ...)                                                  \
	bool host_##name(struct executor *e, EXECUTOR_LIST parameters)                             \
	{                                                                                          \
		(void)e;                                                                           \
		*result = CALL(of, name, __VA_ARGS__);                                             \
		return true;                                                                       \
	}
/* On as many threads as the floating-point operations are worth. */
#define THREADED(name, of, flops, parameters, ...)                                                 \
	bool host_##name(struct executor *e, EXECUTOR_LIST parameters)                             \
	{                                                                                          \
		(void)e;                                                                           \
		host_threads_begin((double)(flops) >= HOST_PARALLEL_FLOPS);                        \
		CALL(of, name, __VA_ARGS__);                                                       \
		host_threads_end();                                                                \
		return true;                                                                       \
	}

static void threads_for_panel(struct matrix a)
{
	int64_t bytes = a.m * a.n * precision_bytes(a.precision);

	host_threads_begin(bytes >= HOST_PANEL_PARALLEL_BYTES);
}

bool host_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p, int *ipiv)
{
	threads_for_panel(host);
	int info = CALL(host, getrf, host, p.data);
	host_threads_end();
	if (info < 0)
		return fault_set(&e->fault, "LAPACKE getrf refuses its argument %d", -info);
	p.data[p.n] = info;
	if (ipiv)
		memcpy(ipiv, p.data, (size_t)p.n * sizeof *ipiv);
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

bool host_host_reflect(struct executor *e, struct matrix v, struct matrix tau, struct matrix c)
{
	enum { TRIANGLE = (GEQRF_BLOCK + 1) * GEQRF_BLOCK /* LAPACK's T */ };
	const int64_t words = c.n * GEQRF_BLOCK + TRIANGLE;
	void *work = malloc((size_t)(words * precision_bytes(c.precision)));
	if (!work)
		return fault_refuse(&e->fault, "out of host memory");

	host_threads_begin(4.0 * (double)c.m * (double)c.n * (double)v.n >= HOST_PARALLEL_FLOPS);
	int info = CALL(c, host_reflect, v, tau, c, work, words);
	host_threads_end();
	free(work);
	return info == 0 || fault_set(&e->fault, "LAPACKE ormqr refuses its argument %d", -info);
}

bool host_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	void *work = malloc((size_t)host_geqrf_work(e, host) + 1);
	bool ok = work ? host_panel_geqrf(e, host, tau, work)
	               : fault_refuse(&e->fault, "out of host memory");

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

THREADED(gemm, c, 2.0 * (double)c.m * (double)c.n * (double)(ta == PLAIN ? a.n : a.m),
        (enum trans ta, enum trans tb, double alpha, struct matrix a, struct matrix b, double beta,
                struct matrix c),
        ta, tb, alpha, a, b, beta, c)

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

	host_threads_begin((double)n * (double)n * (double)(trans == PLAIN ? a.n : a.m) >=
	                   HOST_PARALLEL_FLOPS);
	CALL(c, syrk, uplo, trans, alpha, top, beta, square);
	host_threads_end();
	if (more == 0)
		return true;
	return uplo == LOWER ? host_gemm(e, trans, other, alpha, others, top, beta, rest)
	                     : host_gemm(e, trans, other, alpha, top, others, beta, rest);
}

THREADED(trsm, b, (double)a.n *(double)b.m *(double)b.n,
        (enum side side, enum uplo uplo, enum trans trans, enum diag diag, double alpha,
                struct matrix a, struct matrix b),
        side, uplo, trans, diag, alpha, a, b)

bool host_trsm_guard(struct executor *e, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b)
{
	if (CALL(a, trusted, uplo, diag, a, inverse))
		return true;
	return host_copy(e, WHOLE, kept, b) && host_trsm(e, side, uplo, trans, diag, 1, a, b);
}

RESULT(nrm2, x, norm, (struct matrix x, double *norm), x)
THREADED(gemv, y, 2.0 * (double)a.m * (double)a.n,
        (enum trans trans, double alpha, struct matrix a, struct matrix x, double beta,
                struct matrix y),
        trans, alpha, a, x, beta, y)
FORWARD(trtri, a, (enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse), uplo,
        diag, a, inverse)
FORWARD(laswp, a, (struct matrix a, struct pivots p, bool backwards), a, p, backwards)

bool host_potrf_block(struct executor *e, enum uplo uplo, struct matrix a, struct matrix added,
        int64_t first, int *info)
{
	struct matrix block = top_square(a);

	if (*info != 0)
		return true;
	CALL(a, add_to_diagonal, added, block);
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

/* ---- a panel, column by column ---- */

RESULT(iamax, x, index, (struct matrix x, int64_t *index), x)
RESULT(get, element, value, (struct matrix element, double *value), element)
FORWARD(swap, x, (struct matrix x, struct matrix y), x, y)
FORWARD(scal, x, (double alpha, struct matrix x), alpha, x)
FORWARD(scale_by, x, (struct matrix element, struct matrix x), element, x)
FORWARD(ger, a, (struct matrix x, struct matrix y, struct matrix a), x, y, a)
RESULT(zero_pivot, a, info, (struct matrix a, int *info), a)

/* Between two fused steps, work holds the row of the next pivot. */
int64_t host_fused_work(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return sizeof(int64_t);
}

bool host_fused_begin(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	(void)e;
	p.data[a.n] = 0;
	*(int64_t *)work = CALL(a, reference_search, a, 0);
	return true;
}

bool host_fused_pivot(struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)e;
	CALL(a, reference_pivot, a, j, *(int64_t *)work, p);
	return true;
}

bool host_fused_update(struct executor *e, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)e;
	(void)p;
	CALL(a, reference_update, a, j);
	if (j + 1 < a.n)
		*(int64_t *)work = CALL(a, reference_search, a, j + 1);
	return true;
}

bool host_resident_fits(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return true;
}

bool host_resident_panel(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	host_fused_begin(e, a, work, p);
	for (int64_t j = 0; j < a.n; j++) {
		host_fused_pivot(e, a, j, work, p);
		host_fused_update(e, a, j, work, p);
	}
	return true;
}
