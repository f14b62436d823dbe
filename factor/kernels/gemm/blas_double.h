/* SPDX-License-Identifier: MIT */
/* cuBLAS in double precision, as the cuda executor uses it and the probes measure it: large
 * products by kernels chosen once, large triangles by halves.
 *
 * Large products in double precision are limited by power, which lowers the clock. Kernels that
 * move operands least are fastest then: large tiles and long instructions. The library chooses by
 * short calls and picks smaller tiles. docs/experiments/gemm.md has the measurements. */
#pragma once

#include "gemm.h"

#include <cublasLt.h>
#include <cublas_v2.h>

struct blas_double {
	const struct tuning *tuning;
	bool has[2][2]; /* the library has the wanted kernel for these ta, tb */
	cublasLtMatmulAlgo_t kernel[2][2];
};

/* Queries the library for the kernels. Missing kernels are left to the library's choice. The tuning
 * must outlive x. */
void blas_double_open(struct blas_double *x, const struct tuning *tuning, cublasHandle_t blas);

/* A product of whole matrices on the library's stream, without workspace, allocation or waiting. */
cublasStatus_t blas_double_gemm(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, const double *b,
        double beta, double *c);

/* Only the last line that `edge` names (not GEMM_EVEN). For GEMM_INNER it is added to C. */
cublasStatus_t blas_double_line(enum gemm_edge edge, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, const double *b,
        double beta, double *c);

/* Whether every column is aligned to a pair of elements. */
bool blas_double_aligned(const double *a, int64_t ld);

/* A triangle, C = alpha op(A) op(A)^T + beta C with m = n, under the same conditions. */
cublasStatus_t blas_double_syrk(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, double beta, double *c);
