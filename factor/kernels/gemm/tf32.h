/* SPDX-License-Identifier: MIT */
/* 3xTF32: a single-precision product on units that multiply numbers of 11 significant bits (TF32).
 * Each operand is split, x = high(x) + low(x), both of 11 bits, and what is left out of the product
 * is about 2^-22 of it: high high + high low + low high. As one product with three times the inner
 * dimension: the parts of the left operand stand below each other as low, high, high, those of the
 * right one as high, low, high (Markidis et al. 2018 and Ootomo and Yokota 2022 for the split). The
 * inner dimension of a stack always runs down its columns, as the units want it: elsewhere products
 * take up to 1.6 times as long (H200).
 *
 * A kernel that splits operands on their way to the units instead (wgmma, the left one in
 * registers) reached 58 Tflop/s at k = 256 and 72 at k = 1024 where products of stacks reach 95,
 * with errors of 12 eps of the sum of magnitudes where the tests allow 8: it adds each of the three
 * products to a sum of full size, whose last bits the units cut off (H200).
 *
 * Of an infinite x low is 0, so that the result is infinite or NaN; NaN stays NaN. Where rounding
 * would overflow high is cut off instead. The low parts of what is smaller than 2^-115 end in
 * subnormal numbers: the error is then up to 2^-137 instead of 2^-22 of x. */
#ifndef FATHOM_TF32_H
#define FATHOM_TF32_H

#include "lib/base/matrix.h"
#include "factor/kernels/lu/panel_geometry.h"

#include <string.h>

#ifdef __CUDACC__
#define TF32_CALL __host__ __device__ static inline
#else
#define TF32_CALL static inline
#endif

/* The inner dimension of one product: the units cut sums off instead of rounding them, so that
 * longer sums lose accuracy. */
enum { TF32_PIECE = 256 };

/* The library's kernels for the tensor cores want a multiple of so many rows of C (H200: 5556 x
 * 5555 x 768 takes 168 us, with a row less 464); what is left over is done by itself. */
enum { TF32_ROWS = 4 };

/* Multiprocessors that products on the tensor cores, which keep theirs to the end, leave to a panel
 * beside them: a cluster of them where its rows find room there, as many as C has (in LU by rows
 * that is C's columns, about as many). Taller panels want places on all, and get them late however
 * many are left (H200: LU of 32768 324 ms with 16 left, 317 with none). */
enum { TF32_KEPT = 16 };

TF32_CALL int tf32_kept(int64_t rows, int sm_count)
{
	return rows <= PANEL_GRAM_CLUSTER_ROWS && sm_count > 2 * TF32_KEPT ? TF32_KEPT : 0;
}

/* What an operand's parts are stacked for; BOTH holds one stack and the other: high, low, high,
 * high. HALF_PAIR, for 3xFP16, is no stack but what factor/kernels/gemm/half_pair.h says. */
enum split_form { TF32_LEFT, TF32_RIGHT, TF32_BOTH, HALF_PAIR };

TF32_CALL int tf32_slots(enum split_form stack)
{
	return stack == TF32_BOTH ? 4 : 3;
}

TF32_CALL int tf32_low_slot(enum split_form stack)
{
	return stack == TF32_LEFT ? 0 : 1;
}

/* An operand to be split: op(a), k x n, into `to`: slots x p rows, p at least k, and n columns; or
 * a pair (factor/kernels/gemm/half_pair.h). */
struct splitting {
	struct matrix a;
	enum trans trans;
	enum split_form stack;
	struct matrix to;
};

/* A product's two in one kernel, launched early: each by itself takes longer to begin than to be
 * split. (H200, by 3xFP16, two kernels and one, ms: LU of 4096 4.01 3.85, of 5555 by 64
 * columns 7.07 6.81, QR of 4096 4.92 4.89, of 8192 15.97 15.81. With all of a multiprocessor's
 * memory shared memory, as the kernels beside them have it: 3.84 6.82 4.84 15.86.) */
struct splits {
	struct splitting of[2];
	int count;
};

/* Rounded to 11 significant bits, ties away from zero. */
TF32_CALL float tf32_round(float x)
{
	const uint32_t cut = 0x1fff, exponent = 0x7f800000, noise = 0x00400000;
	uint32_t bits, rounded;

	memcpy(&bits, &x, sizeof bits);
	rounded = (bits + (cut + 1) / 2) & ~cut;
	if ((rounded & exponent) == exponent)
		rounded = bits & ~cut;
	if (x != x)
		rounded = (bits | noise) & ~cut;
	memcpy(&x, &rounded, sizeof x);
	return x;
}

/* What rounding leaves, rounded. */
TF32_CALL float tf32_low(float x)
{
	const float high = tf32_round(x), rest = x - high;

	return high - high == 0 ? tf32_round(rest) : 0;
}

#ifdef __cplusplus
extern "C" {
#endif

/* split_kernels.cu, on the device and in single precision: stacks, in one kernel. What lies between
 * an operand's inner dimension and a slot's rows is zero. stream is a cudaStream_t, what returns a
 * cudaError_t. */
int tf32_split(const struct splits *splits, void *stream);

/* tf32_edge.cu: C = alpha A^T B + beta C of stacks, fewer than TF32_ROWS rows of C; columns of A
 * and B begin at 16 bytes. beta = 0 overwrites C, NaN included. */
int tf32_edge(
        double alpha, struct matrix a, struct matrix b, double beta, struct matrix c, void *stream);

/* To the blocks of blocks.m rows and columns on the diagonal of c, which lie beside each other in
 * `blocks`: one triangle of each, with its diagonal, added to that of c. */
int tf32_add_triangles(enum uplo uplo, struct matrix blocks, struct matrix c, void *stream);

#ifdef __cplusplus
}
#endif
#endif
