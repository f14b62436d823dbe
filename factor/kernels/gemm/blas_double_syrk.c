/* SPDX-License-Identifier: MIT */
/* Triangles in double precision by halves: two triangles and the square between them, a product. */
#include "blas_double.h"

enum { TILE = 128 }; /* halves begin at a tile of the products */

struct update {
	const struct blas_double *x;
	cublasHandle_t blas;
	const struct gemm_problem *p;
	double alpha, beta;
};

static cublasStatus_t undivided(const struct update *u, int64_t n, const double *a, double *c)
{
	const struct gemm_problem *p = u->p;
	struct gemm_problem problem = *p;

	problem.m = problem.n = n;
	if (blas_double_aligned(a, p->lda) && blas_double_aligned(c, p->ldc) &&
	        gemm_edge(u->x->tuning, &problem) == GEMM_ROW) {
		const bool lower = p->part == GEMM_LOWER;
		const cublasStatus_t status = undivided(u, n - 1, a, c);
		return status == CUBLAS_STATUS_SUCCESS
		               ? blas_double_line(lower ? GEMM_ROW : GEMM_COLUMN, u->blas, &problem,
		                         u->alpha, a, a, u->beta, c)
		               : status;
	}
	return cublasDsyrk_64(u->blas,
	        p->part == GEMM_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
	        p->ta ? CUBLAS_OP_T : CUBLAS_OP_N, n, p->k, &u->alpha, a, p->lda, &u->beta, c,
	        p->ldc);
}

static cublasStatus_t between(const struct update *u, int64_t first, int64_t rest, const double *a,
        const double *others, double *c)
{
	const bool lower = u->p->part == GEMM_LOWER;
	struct gemm_problem problem = *u->p;

	problem.part = GEMM_WHOLE;
	problem.m = lower ? rest : first;
	problem.n = lower ? first : rest;
	return blas_double_gemm(u->x, u->blas, &problem, u->alpha, lower ? others : a,
	        lower ? a : others, u->beta, c + first * (lower ? 1 : problem.ldc));
}

static cublasStatus_t triangle(const struct update *u, int64_t n, const double *a, double *c)
{
	const struct gemm_problem *p = u->p;
	if (!u->x->has[p->ta][p->tb] || !gemm_halves_triangle(u->x->tuning, n, p->k))
		return undivided(u, n, a, c);
	const int64_t first = (n / 2 + TILE - 1) / TILE * TILE, rest = n - first;
	const double *others = a + first * (p->ta ? p->lda : 1);
	cublasStatus_t status = triangle(u, first, a, c);
	if (status == CUBLAS_STATUS_SUCCESS)
		status = between(u, first, rest, a, others, c);
	return status == CUBLAS_STATUS_SUCCESS ? triangle(u, rest, others, c + first * (p->ldc + 1))
	                                       : status;
}

cublasStatus_t blas_double_syrk(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, double beta, double *c)
{
	const struct update update = {x, blas, problem, alpha, beta};

	return triangle(&update, problem->n, a, c);
}
