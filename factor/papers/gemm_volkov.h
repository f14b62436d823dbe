/* SPDX-License-Identifier: MIT */
/* The vector-thread matrix products of Volkov and Demmel (LAPACK Working Note 202, section 4), kept
 * for study: C = alpha A B + beta C and C = alpha A B^T + beta C in single precision, their forms
 * for block triangles (section 4.2) and small C (4.3), and the two experiments of section 4.4. */
#ifndef FATHOM_GEMM_VOLKOV_H
#define FATHOM_GEMM_VOLKOV_H

#include "lib/base/base.h"
#include "factor/executors/cuda/gemm_volkov_work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of the matrices is triangular, in blocks of 64 x 16. Of C only the lower triangle is read
 * and written (row >= column): by as many blocks of threads as it has nonzero blocks, whose list is
 * folded (fold_triangle.h), or by as many as a full matrix has, of which those above the diagonal
 * exit at once. Of A, and of op(B), what lies far beyond the diagonal is not read; the blocks that
 * it crosses, 64 rows and columns of A, 16 of op(B), are, and hold zeros beyond it. */
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
 * leading dimensions in elements; beta = 0 overwrites C whatever it holds, alpha = 0 (or k = 0)
 * leaves A and B unread. At most 2^31 - 1 blocks of 64 x 16 in C. */
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
	enum volkov_shape shape; /* but VOLKOV_FULL with VOLKOV_COMPLETE alone */
	int splits;  /* of k, into parts of 16; below 2: none. With VOLKOV_FULL, VOLKOV_COMPLETE */
	float *work; /* of m n words for each split */
};

/* Puts the product into the stream (a cudaStream_t). With splits each sums its part of k into work,
 * and a second kernel adds the parts in their order and merges them with C; more splits than k has
 * parts become as many as those. The same call gives the same bits. Returns a cudaError_t as an
 * int: cudaErrorInvalidValue for what is said to be impossible above. */
int gemm_volkov(const struct volkov_call *call, void *stream);

/* The second of the two kernels alone: C = alpha times the sum of the splits' parts, m x n each, in
 * work, + beta C. Returns a cudaError_t as an int. */
int gemm_volkov_sum(const struct volkov_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
