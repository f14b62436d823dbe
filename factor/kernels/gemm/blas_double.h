/* SPDX-License-Identifier: MIT */
/* cuBLAS in double precision, as the cuda executor has it and the probes measure it: large products
 * by kernels that are chosen once, large triangles by halves.
 *
 * Large products in double precision are limited by power, which lowers the clock; those kernels
 * are ahead then that move operands least: large tiles, long instructions. The library's choice
 * goes by short calls (H200, 700 W, for 0.2 s on end: 14336 x 2048 A B^T with k = 2048 at 50.4
 * Tflop/s by its 64 x 64 tiles, 55.7 by its 128 x 128; 16384 x 12288 A B with k = 512 at 46.5 and
 * 49.4; cublasDsyrk of 16384 with k = 2048 at 42.7). Cholesky of 16384 and 32768 by blocks of 2048:
 * 35.2 -> 32.5 ms and 270 -> 229. 128 x 128 tiles of our own (8 warps, k =
 * 16 at a time, with instructions of 4) reach 49 where the library's reach 56, of 8 41. */
#ifndef FATHOM_BLAS_DOUBLE_H
#define FATHOM_BLAS_DOUBLE_H

#include "gemm.h"

#include <cublasLt.h>
#include <cublas_v2.h>

struct blas_double {
	bool has[2][2]; /* the library has the kernel wanted for these ta, tb: */
	cublasLtMatmulAlgo_t kernel[2][2];
};

/* Asks the library for the kernels; those that it lacks are left to its own choice. */
void blas_double_open(struct blas_double *x, cublasHandle_t blas);

/* A product of whole matrices into the library's stream, without workspace, allocation or waiting.
 */
cublasStatus_t blas_double_gemm(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, const double *b,
        double beta, double *c);

/* The last line alone of what `edge` says (not GEMM_EVEN); of GEMM_INNER it is added to C. */
cublasStatus_t blas_double_line(enum gemm_edge edge, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, const double *b,
        double beta, double *c);

/* Whether all columns begin at pairs of elements. */
bool blas_double_aligned(const double *a, int64_t ld);

/* A triangle, C = alpha op(A) op(A)^T + beta C with m = n, likewise. */
cublasStatus_t blas_double_syrk(const struct blas_double *x, cublasHandle_t blas,
        const struct gemm_problem *problem, double alpha, const double *a, double beta, double *c);

#endif
