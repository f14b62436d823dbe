/* SPDX-License-Identifier: MIT */
/* 3xTF32: a single-precision product on units that multiply numbers of 11 significant bits (TF32).
 * Each operand is split, x = high(x) + low(x), both of 11 bits; high high + high low + low high has
 * a relative error of about 2^-22. It is one product with three times the inner dimension: the left
 * operand's parts are stacked as low, high, high, the right one's as high, low, high (Markidis et
 * al. 2018 and Ootomo and Yokota 2022 for the split). A stack's inner dimension runs down its
 * columns, the fastest layout for the units. Stacks are faster than a kernel that splits operands
 * on their way to the units, and more accurate: such a kernel adds small products to a full sum,
 * whose last bits the units truncate (docs/experiments/tf32.md).
 *
 * low of an infinite x is 0, so the result is infinite or NaN; NaN stays NaN. high is truncated
 * where rounding would overflow. Low parts of x below 2^-115 are subnormal: the error is then up to
 * 2^-137 instead of 2^-22 of x. */
#pragma once

#include "lib/base/matrix.h"
#include "factor/kernels/lu/panel_geometry.h"

#include <string.h>

/* Most of the inner dimension in one product: the units truncate sums, so longer sums lose
 * accuracy. */
enum { TF32_PIECE = 256 };

/* cuBLAS's tensor-core kernels need a multiple of this many rows of C; the remaining rows are
 * computed separately. */
enum { TF32_ROWS = 4 };

/* Multiprocessors that products on the tensor cores leave to a panel beside them, because their
 * blocks stay to the end: one cluster if the panel's rows fit there; the panel has as many rows as
 * C (in a row-major LU, C's columns). Taller panels need all multiprocessors and gain nothing. */
enum { TF32_KEPT = 16 };

HOST_DEVICE static inline int tf32_kept(int64_t rows, int sm_count)
{
	return rows <= PANEL_GRAM_CLUSTER_ROWS && sm_count > 2 * TF32_KEPT ? TF32_KEPT : 0;
}

/* The stack that an operand's parts form; BOTH contains both stacks: high, low, high, high.
 * HALF_PAIR, for 3xFP16, is the pair of factor/kernels/gemm/half_pair.h. */
enum split_form { TF32_LEFT, TF32_RIGHT, TF32_BOTH, HALF_PAIR };

HOST_DEVICE static inline int tf32_slots(enum split_form stack)
{
	return stack == TF32_BOTH ? 4 : 3;
}

HOST_DEVICE static inline int tf32_low_slot(enum split_form stack)
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

/* Both operands of a product, split by one kernel, because the launch of a second would take longer
 * than its work. */
struct splits {
	struct splitting of[2];
	int count;
};

/* Rounded to 11 significant bits, ties away from zero. */
HOST_DEVICE static inline float tf32_round(float x)
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

/* The rounded remainder. */
HOST_DEVICE static inline float tf32_low(float x)
{
	const float high = tf32_round(x), rest = x - high;

	return high - high == 0 ? tf32_round(rest) : 0;
}

C_BEGIN

/* split_kernels.cu, on the device and in single precision: makes stacks in one kernel. Elements
 * between an operand's inner dimension and a slot's rows become zero. stream is a cudaStream_t.
 * Each returns a cudaError_t. */
int tf32_split(const struct splits *splits, void *stream);

/* tf32_edge.cu: C = alpha A^T B + beta C of stacks, for fewer than TF32_ROWS rows of C. Columns of
 * A and B start at multiples of 16 bytes. beta = 0 overwrites C, NaN included. */
int tf32_edge(
        double alpha, struct matrix a, struct matrix b, double beta, struct matrix c, void *stream);

/* Adds one triangle, with its diagonal, of each block in `blocks` (side by side, of blocks.m rows
 * and columns) to the blocks on the diagonal of c. */
int tf32_add_triangles(enum uplo uplo, struct matrix blocks, struct matrix c, void *stream);

C_END
