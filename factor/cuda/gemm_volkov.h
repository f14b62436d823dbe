/* SPDX-License-Identifier: MIT */
/* The vector-thread matrix products of Volkov and Demmel (LAPACK Working Note 202, section 4), kept
 * for study: C = alpha A B + beta C and C = alpha A B^T + beta C in single precision, and the two
 * experiments of their section 4.4. */
#ifndef FATHOM_GEMM_VOLKOV_H
#define FATHOM_GEMM_VOLKOV_H

#include "../../lib/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is left out. Without fetches the addresses of A and B stand in for what is there, so that
 * the instructions stay and the result means nothing; without prefetches every fetch comes right
 * before its use. */
enum volkov_without { VOLKOV_COMPLETE, VOLKOV_NO_FETCH, VOLKOV_NO_PREFETCH, VOLKOV_WAYS };

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
};

/* Puts the product into the stream (a cudaStream_t). Returns a cudaError_t as an int. */
int gemm_volkov(const struct volkov_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
