/* SPDX-License-Identifier: MIT */
/* Our own matrix product on the device: C = alpha op(A) op(B) + beta C, column-major, all of C or
 * one triangle. beta = 0 overwrites C, NaN included; alpha = 0 reads neither A nor B. Sums are
 * fused multiply-adds of the precision (in double precision those of the tensor cores) in an order
 * that the plan alone decides: the same call gives the same bits. */
#ifndef FATHOM_GEMM_H
#define FATHOM_GEMM_H

#include "lib/base/base.h"
#include "lib/base/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gemm_part { GEMM_WHOLE, GEMM_LOWER, GEMM_UPPER };

/* op(A) is m x k, op(B) k x n, C m x n. Of a part the rest of C is neither read nor written: LOWER
 * is the triangle of the first n rows and all rows below it (m >= n), UPPER that of the first m
 * columns and all columns right of it (n >= m). Leading dimensions in elements. */
struct gemm_problem {
	enum precision precision;
	bool ta, tb; /* op is the transpose */
	enum gemm_part part;
	int64_t m, n, k, lda, ldb, ldc;
};

/* The whole of c; leading dimensions of A and B are the caller's to set. */
static inline struct gemm_problem gemm_product(
        enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	const struct gemm_problem problem = {c.precision, ta == TRANSPOSED, tb == TRANSPOSED,
	        GEMM_WHOLE, c.m, c.n, k, 0, 0, c.ld};
	return problem;
}

/* Shapes from GEMM_NARROW on are for small C, from GEMM_DOUBLE on they are those in double
 * precision. */
enum { GEMM_NARROW = 3, GEMM_DOUBLE = 6, GEMM_SHAPES = 7 };

/* Tiles of C that a block computes, and how fast: kernels exist in these shapes. */
struct gemm_geometry {
	int rows, columns, depth; /* of a tile; depth along k at a time */
	int resident;             /* blocks an SM holds, at most 4 */
	double rate[4]; /* share of the SM's multiply-adds reached by 1, 2 ... resident blocks */
};
extern const struct gemm_geometry gemm_geometry[GEMM_SHAPES];

/* How a problem is computed. With more than one split each sums its own part of k into work, and a
 * second kernel adds the parts in their order. */
struct gemm_plan {
	int shape, splits;
	int64_t work_bytes; /* 0 without splits */
	bool shared; /* few tiles a block, which lets other kernels in between; else blocks stay
	                to the end, which is quicker alone. The caller's to set */
};

/* Whether a device of compute capability `major` whose blocks may have so much shared memory has
 * our kernels: those in double precision need the tensor cores of 9.0. */
bool gemm_has(enum precision precision, int major, int64_t shared_per_block);

/* Whether our kernels are ahead of cuBLAS for an m x n product with aligned operands: in single
 * precision where C is large and k short, so that reading and writing C matters (H200: k = 512 at n
 * = 2048, 4096, 16384 in 1.04, 0.96, 0.95 of cuBLAS's time); in double precision they are not. */
bool gemm_is_ahead(enum precision precision, int64_t m, int64_t n, int64_t k);

/* The same for A^T B of few columns and many rows (V^T C of QR), whatever is aligned but C, with
 * splits of k: in single precision (H200, 131072 rows: 64 x 64 in 0.73 of cuBLAS's time, 64 x 192
 * in 0.69, 128 x 128 in 0.86, 128 x 384 in 0.85; 64 x 180 of 29808 rows in 0.69). */
bool gemm_is_ahead_tall(const struct gemm_problem *problem);

/* The same for triangles and trapezoids, C = alpha A A^T + beta C, whatever is aligned: always in
 * single precision, with short k or small n k in double (H200: k = 64, 128, 256 in 0.59, 0.73,
 * 0.87 of cuBLAS's time at n = 4096, k = 512 in 1.05). */
bool gemm_is_ahead_triangle(enum precision precision, int64_t n, int64_t k);

/* Whether it is A^T B with many rows of A for its columns, as V^T C of QR. */
bool gemm_is_tall(const struct gemm_problem *problem);

/* In double precision, where the library has the kernels of factor/kernels/gemm/blas_double.h: whether the one
 * chosen there is ahead of its own choice for a product, and halves for a triangle of order n. */
bool gemm_is_chosen(const struct gemm_problem *problem);
bool gemm_halves_triangle(int64_t n, int64_t k);

/* Of a product in double precision, operands aligned, whose even part is enough quicker: the side
 * whose last line goes by itself. op(A)'s last row, op(B)'s last column, or the last one of those
 * that are summed. */
enum gemm_edge { GEMM_EVEN, GEMM_ROW, GEMM_COLUMN, GEMM_INNER };
enum gemm_edge gemm_edge(const struct gemm_problem *problem);

/* Work memory that the executor has for one product: cuBLAS's, as NVIDIA advises for this
 * generation of GPUs, or ours. */
enum { GEMM_WORK_BYTES = 32 << 20 };

/* The plan of least estimated time on sm_count multiprocessors that needs no more than most_bytes
 * of work memory. */
struct gemm_plan gemm_plan_make(
        const struct gemm_problem *problem, int sm_count, int64_t most_bytes);

/* Device pointers on the current device; work holds plan->work_bytes. stream is a cudaStream_t.
 * Returns a cudaError_t. */
int gemm_launch(const struct gemm_problem *problem, const struct gemm_plan *plan, double alpha,
        const void *a, const void *b, double beta, void *c, void *work, void *stream);

#ifdef __cplusplus
}
#endif
#endif
