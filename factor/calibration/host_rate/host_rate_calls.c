/* SPDX-License-Identifier: MIT */
/* The calls of the host_rate probe: one turn of each, in both precisions. */
#include "host_rate_internal.h"

#include "factor/kernels/lu/host_panel.h"

#include <cblas.h>

enum { ROWS = 16 }; /* lengths over which a tall call is averaged */

/* A random row below m, another one every turn. */
static int some_row(size_t turn, int m)
{
	uint32_t hash = (uint32_t)turn * 0x9e3779b9u;
	return (int)(((uint64_t)hash * (uint64_t)m) >> 32);
}

/* ---- the calls ---- */

/* Calls the function of the call's precision; S and D are the panel in its type. */
#define EITHER(c, single, twice)                                                                   \
	do {                                                                                       \
		float *S = (float *)(c)->rates->at;                                                \
		double *D = (double *)(c)->rates->at;                                              \
		(void)S;                                                                           \
		(void)D;                                                                           \
		if ((c)->is_double)                                                                \
			twice;                                                                     \
		else                                                                               \
			single;                                                                    \
	} while (0)

/* In a panel every column starts a row lower and is a row shorter than the one before: any
 * alignment, any remainder of the library's unrolled loops. Calls of one length belong to one
 * cycle. */
static int shift(const struct call *c, size_t turn)
{
	return (int)(turn / c->cycle % ROWS);
}

static int length(const struct call *c, size_t turn)
{
	return c->m + ROWS / 2 - shift(c, turn);
}

static size_t column(const struct call *c, size_t turn)
{
	size_t j = turn % (size_t)c->n;
	return j * (size_t)c->ld + (size_t)shift(c, turn);
}

bool run_iamax(const struct call *c, size_t turn)
{
	size_t x = column(c, turn), found;
	int rows = length(c, turn);
	EITHER(c, found = cblas_isamax(rows, S + x, 1), found = cblas_idamax(rows, D + x, 1));
	__asm__ volatile("" ::"r"(found)); /* keeps the call */
	return true;
}

/* Doubles every column, then halves it. */
bool run_scal(const struct call *c, size_t turn)
{
	size_t x = column(c, turn);
	double alpha = turn / (size_t)c->n % 2 ? 0.5 : 2;
	int rows = length(c, turn);
	EITHER(c, cblas_sscal(rows, (float)alpha, S + x, 1), cblas_dscal(rows, alpha, D + x, 1));
	return true;
}

bool run_swap(const struct call *c, size_t turn)
{
	int i = some_row(2 * turn, c->m), k = some_row(2 * turn + 1, c->m);
	EITHER(c, cblas_sswap(c->n, S + i, c->ld, S + k, c->ld),
	        cblas_dswap(c->n, D + i, c->ld, D + k, c->ld));
	return true;
}

/* Updates the matrix right of and below its first column and row by them, then subtracts it again.
 */
bool run_ger(const struct call *c, size_t turn)
{
	double alpha = turn % 2 ? 1 : -1;
	int rows = length(c, turn), ld = c->ld;
	float *s = (float *)c->rates->at + shift(c, turn);
	double *d = (double *)c->rates->at + shift(c, turn);
	if (c->is_double)
		cblas_dger(CblasColMajor, rows, c->n, alpha, d + 1, 1, d + ld, ld, d + ld + 1, ld);
	else
		cblas_sger(CblasColMajor, rows, c->n, (float)alpha, s + 1, 1, s + ld, ld,
		        s + ld + 1, ld);
	return true;
}

int panel_threads(const struct call *c)
{
	if (c->threads || c->square)
		return c->threads ? c->threads : c->rates->threads;
	if (c->solve)
		return host_solve_threads(c->m, c->n, c->rates->threads);
	return host_panel_threads((int64_t)c->m * c->n * (c->is_double ? 8 : 4), c->rates->threads);
}

bool run_getrf(const struct call *c, size_t turn)
{
	lapack_int *ipiv = c->rates->ipiv, info;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c, info = LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, c->m, c->n, S, c->ld, ipiv),
	        info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, c->m, c->n, D, c->ld, ipiv));
	openblas_set_num_threads(1);
	return info == 0;
}

bool run_geqrf(const struct call *c, size_t turn)
{
	void *tau = c->rates->tau, *work = c->rates->work;
	lapack_int info, size = WIDE_N * QR_BLOCK;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c,
	        info = LAPACKE_sgeqrf_work(LAPACK_COL_MAJOR, c->m, c->n, S, c->ld, tau, work, size),
	        info = LAPACKE_dgeqrf_work(
	                LAPACK_COL_MAJOR, c->m, c->n, D, c->ld, tau, work, size));
	openblas_set_num_threads(1);
	return info == 0;
}

bool run_potrf(const struct call *c, size_t turn)
{
	lapack_int info;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c, info = LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', c->n, S, c->ld),
	        info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', c->n, D, c->ld));
	openblas_set_num_threads(1);
	return info == 0;
}

/* The rows of a panel of Cholesky's below its triangle. */
bool run_potrf_rows(const struct call *c, size_t turn)
{
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c,
	        cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
	                c->m - c->n, c->n, 1, S, c->ld, S + c->n, c->ld),
	        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
	                c->m - c->n, c->n, 1, D, c->ld, D + c->n, c->ld));
	openblas_set_num_threads(1);
	return true;
}

/* The master holds both factors. */
bool run_gemm(const struct call *c, size_t turn)
{
	int n = c->n, ld = c->ld;
	size_t b = (size_t)ld * (size_t)n;
	const float *s = (const float *)c->rates->master;
	const double *d = (const double *)c->rates->master;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c,
	        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, s, ld, s + b,
	                ld, 1, S, ld),
	        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, d, ld, d + b,
	                ld, 1, D, ld));
	openblas_set_num_threads(1);
	return true;
}
