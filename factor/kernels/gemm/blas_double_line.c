/* SPDX-License-Identifier: MIT */
/* The last line of a product in double precision: a matrix times a vector, or two vectors. */
#include "blas_double.h"

struct vector {
	const double *x;
	int64_t apart;
};

/* y = alpha op(A) x + beta y, A is m x n. */
static cublasStatus_t multiply(cublasHandle_t blas, bool transposed, int64_t m, int64_t n,
        double alpha, const double *a, int64_t lda, struct vector x, double beta, double *y,
        int64_t apart)
{
	return cublasDgemv_64(blas, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, &alpha, a, lda,
	        x.x, x.apart, &beta, y, apart);
}

/* Row i of op(A), column i of op(B); and column and row i, along the summed dimension. */
static struct vector row(bool transposed, const double *a, int64_t ld, int64_t i)
{
	return transposed ? (struct vector){a + i * ld, 1} : (struct vector){a + i, ld};
}

static struct vector column(bool transposed, const double *a, int64_t ld, int64_t i)
{
	return row(!transposed, a, ld, i);
}

cublasStatus_t blas_double_line(enum gemm_edge edge, cublasHandle_t blas,
        const struct gemm_problem *p, double alpha, const double *a, const double *b, double beta,
        double *c)
{
	if (edge == GEMM_ROW) /* row = op(B)^T times it */
		return multiply(blas, !p->tb, p->tb ? p->n : p->k, p->tb ? p->k : p->n, alpha, b,
		        p->ldb, row(p->ta, a, p->lda, p->m - 1), beta, c + p->m - 1, p->ldc);
	if (edge == GEMM_COLUMN)
		return multiply(blas, p->ta, p->ta ? p->k : p->m, p->ta ? p->m : p->k, alpha, a,
		        p->lda, column(p->tb, b, p->ldb, p->n - 1), beta, c + (p->n - 1) * p->ldc,
		        1);
	const struct vector x = column(p->ta, a, p->lda, p->k - 1),
	                    y = row(p->tb, b, p->ldb, p->k - 1);
	return cublasDger_64(blas, p->m, p->n, &alpha, x.x, x.apart, y.x, y.apart, c, p->ldc);
}
