/* SPDX-License-Identifier: MIT */
/* Matrix product on the device: C = alpha op(A) op(B) + beta C, column-major, all of C or one
 * triangle. beta = 0 overwrites C, NaN included; alpha = 0 reads neither A nor B. Sums are fused
 * multiply-adds of the precision (on the tensor cores in double precision), in an order that the
 * plan fixes: the same call gives the same bits. */
#pragma once

#include "factor/tuning/tuning.h"
#include "lib/base/base.h"
#include "lib/base/matrix.h"

C_BEGIN

enum gemm_part { GEMM_WHOLE, GEMM_LOWER, GEMM_UPPER };

/* op(A) is m x k, op(B) k x n, C m x n. The rest of C beside `part` is neither read nor written:
 * LOWER is the triangle of the first n rows and all rows below it (m >= n), UPPER the triangle of
 * the first m columns and all columns right of it (n >= m). Leading dimensions in elements. */
struct gemm_problem {
	enum precision precision;
	bool ta, tb; /* op is the transpose */
	enum gemm_part part;
	int64_t m, n, k, lda, ldb, ldc;
};

/* A product into all of c. The caller sets the leading dimensions of A and B. */
static inline struct gemm_problem gemm_product(
        enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	const struct gemm_problem problem = {c.precision, ta == TRANSPOSED, tb == TRANSPOSED,
	        GEMM_WHOLE, c.m, c.n, k, 0, 0, c.ld};
	return problem;
}

/* Shapes from GEMM_NARROW on suit a small C. Shapes from GEMM_DOUBLE on are in double precision. */
enum { GEMM_NARROW = 3, GEMM_DOUBLE = 6 };

/* Tiles of C that a block computes. Kernels exist for these shapes. */
struct gemm_geometry {
	int rows, columns, depth; /* of a tile; depth along k at a time */
	int resident;             /* blocks per SM, at most GEMM_RESIDENT */
};
extern const struct gemm_geometry gemm_geometry[GEMM_SHAPES];

/* How a problem is computed. Each of several splits sums its own part of k into work; a second
 * kernel adds the parts in order. */
struct gemm_plan {
	int shape, splits;
	int64_t work_bytes; /* 0 without splits */
	bool shared; /* few tiles per block, to let other kernels in; else blocks stay to the end,
	                which is faster alone. Set by the caller */
};

/* Whether our kernels run with code for compute capability `code` (10 x major + minor) and this
 * much shared memory per block. Double precision needs the tensor cores of 9.0. */
bool gemm_has(enum precision precision, int code, int64_t shared_per_block);

/* Whether our kernels are faster than cuBLAS for an m x n product with aligned operands: in single
 * precision for large C and short k, where reads and writes of C dominate. docs/experiments/gemm.md
 * has the measurements behind these choices. */
bool gemm_is_ahead(
        const struct tuning *tuning, enum precision precision, int64_t m, int64_t n, int64_t k);

/* The same for A^T B with few columns and many rows (V^T C of QR), with splits of k, in single
 * precision. Only C must be aligned. */
bool gemm_is_ahead_tall(const struct tuning *tuning, const struct gemm_problem *problem);

/* The same for triangles and trapezoids, C = alpha A A^T + beta C, of any alignment: always in
 * single precision; in double precision for a short k or a small n k. */
bool gemm_is_ahead_triangle(
        const struct tuning *tuning, enum precision precision, int64_t n, int64_t k);

/* Whether the product is A^T B with many rows of A per column, as V^T C of QR. */
bool gemm_is_tall(const struct gemm_problem *problem);

/* In double precision, on devices with the kernels of factor/kernels/gemm/blas_double.h: whether
 * the chosen kernel is faster for a product than the library's choice, and whether halves are
 * faster for a triangle of order n. */
bool gemm_is_chosen(const struct tuning *tuning, const struct gemm_problem *problem);
bool gemm_halves_triangle(const struct tuning *tuning, int64_t n, int64_t k);

/* The side whose last line is computed separately, for aligned operands in double precision, where
 * the even rest is faster by more than the line costs: op(A)'s last row, op(B)'s last column, or
 * the last summed term. */
enum gemm_edge { GEMM_EVEN, GEMM_ROW, GEMM_COLUMN, GEMM_INNER };
enum gemm_edge gemm_edge(const struct tuning *tuning, const struct gemm_problem *problem);

/* Work memory of one product: cuBLAS's, as NVIDIA recommends for compute capability 9.0, or ours.
 */
enum { GEMM_WORK_BYTES = 32 << 20 };

/* The plan of least estimated time with at most most_bytes of work memory. */
struct gemm_plan gemm_plan_make(
        const struct gemm_problem *problem, const struct tuning *tuning, int64_t most_bytes);

/* The shape that replaces another when A, B or C is unaligned. In single precision only two have
 * such kernels; triangles need square tiles. */
int gemm_unaligned_shape(const struct gemm_problem *problem, int shape);

/* Device pointers on the current device; work holds plan->work_bytes. stream is a cudaStream_t.
 * Returns a cudaError_t. */
int gemm_launch(const struct gemm_problem *problem, const struct gemm_plan *plan, double alpha,
        const void *a, const void *b, double beta, void *c, void *work, void *stream);

C_END
