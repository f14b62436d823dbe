/* SPDX-License-Identifier: MIT */
/* The vector-thread matrix products of Volkov and Demmel (LAPACK Working Note 202, section 4), kept
 * for study: C = alpha A B + beta C and C = alpha A B^T + beta C in single precision, their forms
 * for block triangles (section 4.2) and small C (4.3), and the two experiments of section 4.4. */
#pragma once

#include "lib/base/base.h"
#include "gemm_volkov_work.h"

C_BEGIN

/* Which matrix is triangular, in blocks of 64 x 16. A lower triangular C (row >= column) is read
 * and written in its triangle alone: FOLDED starts one block of threads per block of the triangle
 * (fold_triangle.h), EXIT one per block of the full matrix, and blocks above the diagonal exit at
 * once. Of a triangular A or op(B), blocks beyond the diagonal are not read. Blocks on the diagonal
 * (64 rows and columns of A, 16 of op(B)) are read and must hold zeros beyond it. */
enum volkov_shape {
	VOLKOV_FULL,
	VOLKOV_C_FOLDED,
	VOLKOV_C_EXIT,
	VOLKOV_A_LOWER,
	VOLKOV_A_UPPER,
	VOLKOV_B_LOWER,
	VOLKOV_B_UPPER,
	VOLKOV_SHAPES
};

/* BLAS arguments: A is m x k, B k x n (n x k when tb), C m x n; device memory, column-major,
 * leading dimensions in elements. beta = 0 overwrites C whatever it holds. alpha = 0 or k = 0
 * leaves A and B unread. C has at most 2^31 - 1 blocks of 64 x 16. */
struct volkov_call {
	enum volkov_without without;
	bool tb;
	int64_t m, n, k;
	float alpha;
	const float *a;
	int64_t lda;
	const float *b;
	int64_t ldb;
	float beta;
	float *c;
	int64_t ldc;
	enum volkov_shape shape; /* other than VOLKOV_FULL: with VOLKOV_COMPLETE only */
	int splits;  /* of k, into parts of 16; below 2: none. With VOLKOV_FULL and VOLKOV_COMPLETE
	                only */
	float *work; /* m n words for each split */
};

/* Puts the product into the stream (a cudaStream_t). With splits, each split sums its part of k
 * into work, and a second kernel adds the parts in order and combines them with C. Splits are
 * limited to the number of parts of k. The same call gives the same bits. Returns a cudaError_t as
 * an int: cudaErrorInvalidValue for the combinations excluded above. */
int gemm_volkov(const struct volkov_call *call, void *stream);

/* The second kernel alone: C = alpha (sum of the splits' m x n parts in work) + beta C. Returns a
 * cudaError_t as an int. */
int gemm_volkov_sum(const struct volkov_call *call, void *stream);

C_END
