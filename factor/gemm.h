/* SPDX-License-Identifier: MIT */
/* Our own matrix product on the device: C = alpha op(A) op(B) + beta C, column-major, all of C or
 * one triangle. beta = 0 overwrites C, NaN included; alpha = 0 reads neither A nor B. Sums are
 * plain fused multiply-adds of the precision in an order that the plan alone decides: the same call
 * gives the same bits. */
#ifndef FATHOM_GEMM_H
#define FATHOM_GEMM_H

#include "../lib/base.h"
#include "../lib/precision.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gemm_part { GEMM_WHOLE, GEMM_LOWER, GEMM_UPPER };

/* op(A) is m x k, op(B) k x n, C m x n (n x n when part is a triangle; the rest of C is neither
 * read nor written). Leading dimensions in elements. */
struct gemm_problem {
	enum precision precision;
	bool ta, tb; /* op is the transpose */
	enum gemm_part part;
	int64_t m, n, k, lda, ldb, ldc;
};

enum { GEMM_SHAPES = 6 };

/* Tiles of C that a block computes, and how fast: kernels exist in these shapes. */
struct gemm_geometry {
	int rows, columns, depth; /* of a tile; depth along k at a time */
	int resident;             /* blocks an SM holds */
	double efficiency;        /* share of the SM's multiply-adds reached in long products */
};
extern const struct gemm_geometry gemm_geometry[GEMM_SHAPES];

/* How a problem is computed. With more than one split each sums its own part of k into work, and a
 * second kernel adds the parts in their order. */
struct gemm_plan {
	int shape, splits;
	int64_t work_bytes; /* 0 without splits */
	bool shared; /* a block a tile, which lets other kernels in between; else blocks stay for
	                several, which is quicker alone. The caller's to set */
};

/* The plan of least estimated time on sm_count multiprocessors; one split only when no work memory
 * is to be used. */
struct gemm_plan gemm_plan_make(const struct gemm_problem *problem, int sm_count, bool may_split);

/* Device pointers on the current device; work holds plan->work_bytes. stream is a cudaStream_t.
 * Returns a cudaError_t. */
int gemm_launch(const struct gemm_problem *problem, const struct gemm_plan *plan, double alpha,
        const void *a, const void *b, double beta, void *c, void *work, void *stream);

#ifdef __cplusplus
}
#endif
#endif
