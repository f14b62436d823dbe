/* SPDX-License-Identifier: MIT */
/* The Cholesky factor R of a Gram matrix A^T A and its inverse, and whether A R^-1 is orthonormal
 * enough (factor/kernels/qr/panel_geqrf_gram_double.cu). In one block of 16 x 16 threads, as in
 * factor/kernels/qr/panel_geqrf_gram.cuh. */
#pragma once

#include "panel_geqrf_gram.cuh"

namespace
{

/* With columns of A scaled to norm 1: the norms of the columns of R^-1 have the bound LIMIT. The
 * error of A R^-1 times R is as many roundings as the largest product of the norms of column k of
 * R^-1 and of row k of R. Above STEADY one refinement removes that error
 * (docs/experiments/qr-panel.md). */
const double STEADY = 4;

/* Bound of the norms of the columns of R^-1 up to which the error of A^T A does not matter
 * (docs/experiments/qr-panel.md). Tall random matrices are near 1. */
const double NEAR_ONE = 1.25;

/* Squared norms of columns of A for which no square, product or quotient overflows, and none that
 * matters underflows. */
const double SMALLEST = 0x1p-900, LARGEST = 0x1p900;

struct factors {
	struct triangles r;     /* of: R; inverse */
	double squares[ORDER];  /* of the norms of A's columns, 1 beyond the n columns */
	double root[ORDER];     /* reciprocals of R's diagonal */
	double norms[2][ORDER]; /* squared, of columns of R^-1 and of rows of R */
};

/* Row k of the Schur complement into rows[k], for the stripe's k. */
template <int stripe>
__device__ __forceinline__ void eliminate_stripe(square &rows, int n, quarter &gram)
{
	int end = min(n, (stripe + 1) * SIDE);

	asm volatile("" : "+r"(end)); /* prevents unrolling: less code */
#pragma unroll 1
	for (int k = stripe * SIDE; k < end; k++) {
		double row[STRIPES], left[STRIPES];

		if ((int)threadIdx.x / SIDE == k % SIDE)
#pragma unroll
			for (int j = stripe; j < STRIPES; j++)
				rows[k][at_column(j)] = gram[stripe][j];
		__syncthreads();
		const double factor = -reciprocal_of(rows[k][k]);
#pragma unroll
		for (int j = stripe; j < STRIPES; j++) {
			row[j] = rows[k][at_column(j)];
			left[j] = factor * rows[k][at_row(j)];
		}
#pragma unroll
		for (int i = stripe; i < STRIPES; i++)
#pragma unroll
			for (int j = i; j < STRIPES; j++) /* the rest is symmetric */
				gram[i][j] = fma(left[i], row[j], gram[i][j]);
	}
}

/* R from the Gram matrix, the identity beyond its n columns. Returns whether the columns are
 * independent. All threads call it, after a barrier behind s.squares; it ends with a barrier. */
__device__ __forceinline__ bool factorize(struct factors &s, int n, quarter &gram)
{
	const int t = (int)threadIdx.x;
	bool fine = true;

	static_assert(STRIPES == 4, "a call for each");
	eliminate_stripe<0>(s.r.of, n, gram);
	eliminate_stripe<1>(s.r.of, n, gram);
	eliminate_stripe<2>(s.r.of, n, gram);
	eliminate_stripe<3>(s.r.of, n, gram);
	__syncthreads();
	if (t < n) {
		const double whole = s.squares[t], left = s.r.of[t][t];
		s.root[t] = root_reciprocal_of(left);
		fine = whole >= SMALLEST && whole <= LARGEST && left > 0 &&
		       whole <= LIMIT * LIMIT * left;
	}
	fine = __syncthreads_and(fine);
#pragma unroll 4
	for (int e = t; e < ORDER * ORDER; e += SIDE * SIDE) {
		const int row = e / ORDER, column = e % ORDER;
		s.r.inverse[row][column] = 0;
		s.r.of[row][column] = row > column || column >= n
		                              ? row == column
		                              : s.r.of[row][column] * s.root[row];
	}
	__syncthreads();
	return fine;
}

/* After invert: whether R^-1 is bounded, and whether A R^-1 needs a refinement. All threads call
 * it, between barriers. */
__device__ __forceinline__ bool is_bounded(struct factors &s, bool *refine)
{
	const int t = (int)threadIdx.x, k = t % ORDER;
	double sum = 0;

	if (t < ORDER)
#pragma unroll 8
		for (int i = 0; i < ORDER; i++)
			sum = fma(s.r.inverse[i][k] * s.r.inverse[i][k], s.squares[i], sum);
	else if (t < 2 * ORDER)
#pragma unroll 8
		for (int j = 0; j < ORDER; j++)
			sum = fma(s.r.of[k][j] * s.r.of[k][j], reciprocal_of(s.squares[j]), sum);
	if (t < 2 * ORDER)
		s.norms[t / ORDER][k] = sum;
	__syncthreads();
	*refine = !__syncthreads_and(s.norms[0][k] * s.norms[1][k] <= STEADY * STEADY);
	return __syncthreads_and(s.norms[0][k] <= LIMIT * LIMIT);
}

/* After settle, from the columns' first squares: whether R^-1 is so near one that the steps on A^T
 * A will do. All threads call it, behind a barrier. */
__device__ __forceinline__ bool is_near_one(const struct steps &s, int n, const double *squares)
{
	const int k = (int)threadIdx.x;
	bool near = true;

	if (k < n) {
		const double scale = s.alpha[k] - s.beta[k]; /* Y's column is R^-1's beta / scale */
		double sum = 0;
#pragma unroll 8
		for (int i = 0; i < ORDER; i++) {
			const double y = made_of(s, n, i, k) * scale;
			sum = fma(y * y, squares[i], sum);
		}
		near = sum <= NEAR_ONE * NEAR_ONE * s.squares[k] && squares[k] >= SMALLEST &&
		       squares[k] <= LARGEST;
	}
	return __syncthreads_and(near);
}

} // namespace
