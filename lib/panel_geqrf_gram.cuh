/* SPDX-License-Identifier: MIT */
/* The small matrices of lib/panel_geqrf_gram.cu: of order 64 in double precision, in one block of
 * 16 x 16 threads. Thread (x, y) holds rows y, y + 16, ... of columns x, x + 16, ... */
#ifndef FATHOM_PANEL_GEQRF_GRAM_CUH
#define FATHOM_PANEL_GEQRF_GRAM_CUH

#include "base.h"

namespace
{

enum { ORDER = 64, SIDE = 16, STRIPES = ORDER / SIDE };

typedef double square[ORDER][ORDER + 1];  /* in shared memory */
typedef double quarter[STRIPES][STRIPES]; /* a thread's elements of one */

__device__ __forceinline__ int at_row(int i)
{
	return (int)threadIdx.x / SIDE + SIDE * i;
}

__device__ __forceinline__ int at_column(int j)
{
	return (int)threadIdx.x % SIDE + SIDE * j;
}

/* ---- reflectors from a Gram matrix ---- */

/* What step k leaves. */
struct steps {
	square gram;           /* [k]: row k right of its diagonal, */
	square below;          /* column k of the top below it, */
	square made;           /* what it was made of, */
	double squares[ORDER]; /* the squared norm that was left of the column */
	double alpha[ORDER];   /* and the element on the diagonal */
	double top[2][ORDER];  /* row k of the top right of its diagonal */
};

/* 1 / x and 1 / sqrt(x) to two roundings, without the branches of the correctly rounded ones; x is
 * no extreme. */
__device__ __forceinline__ double reciprocal_of(double x)
{
	double r;
	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
	const double e = fma(-x, r, 1.0);
	return fma(r, fma(e, e, e), r);
}

__device__ __forceinline__ double root_reciprocal_of(double x)
{
	double r;
	asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
	const double e = fma(-x * r, r, 1.0);
	return fma(r * e, fma(e, 0.375, 0.5), r);
}

/* The norm of a column, with the sign that its element on the diagonal does not have. */
__device__ __forceinline__ double beta_of(double root, double squares, double alpha)
{
	return alpha < 0 ? squares * root : -squares * root;
}

/* The rows that hold step k's pivots, and the columns. */
template <int stripe>
__device__ __forceinline__ void publish(
        struct steps &s, int k, const quarter &gram, const quarter &top, const quarter &made)
{
	if ((int)threadIdx.x / SIDE == k % SIDE) {
#pragma unroll
		for (int j = stripe; j < STRIPES; j++) {
			const bool right = at_column(j) > k;
			s.gram[k][at_column(j)] = right ? gram[stripe][j] : 0;
			s.top[k % 2][at_column(j)] = right ? top[stripe][j] : 0;
		}
		if (at_column(stripe) == k) {
			s.squares[k] = gram[stripe][stripe];
			s.alpha[k] = top[stripe][stripe];
		}
	}
	if ((int)threadIdx.x % SIDE == k % SIDE) {
#pragma unroll
		for (int i = stripe; i < STRIPES; i++)
			s.below[k][at_row(i)] = at_row(i) > k ? top[i][stripe] : 0;
#pragma unroll
		for (int i = 0; i <= stripe; i++)
			s.made[k][at_row(i)] = made[i][stripe];
	}
}

template <int stripe>
__device__ __forceinline__ void reflect_stripe(
        struct steps &s, int n, quarter &gram, quarter &top, quarter &made)
{
#pragma unroll 1
	for (int k = stripe * SIDE; k < min(n, (stripe + 1) * SIDE); k++) {
		double row[STRIPES], factor[STRIPES];

		publish<stripe>(s, k, gram, top, made);
		__syncthreads();
		const double squares = s.squares[k], alpha = s.alpha[k];
		const double root = root_reciprocal_of(squares);
		const double beta = beta_of(root, squares, alpha);
		const double scale = reciprocal_of(fma(-alpha, beta, squares));
		const double minus = -root * root;
#pragma unroll
		for (int j = stripe; j < STRIPES; j++) {
			row[j] = s.gram[k][at_column(j)];
			factor[j] = fma(-beta, s.top[k % 2][at_column(j)], row[j]) * -scale;
		}
#pragma unroll
		for (int i = stripe; i < STRIPES; i++) {
			const double left = s.gram[k][at_row(i)] * minus;
			const double under = s.below[k][at_row(i)];
#pragma unroll
			for (int j = stripe; j < STRIPES; j++) {
				if (j >= i) /* the rest is symmetric */
					gram[i][j] = fma(left, row[j], gram[i][j]);
				top[i][j] = fma(under, factor[j], top[i][j]);
			}
		}
#pragma unroll
		for (int i = 0; i <= stripe; i++) {
			const double of = s.made[k][at_row(i)];
#pragma unroll
			for (int j = stripe; j < STRIPES; j++)
				made[i][j] = fma(of, factor[j], made[i][j]);
		}
	}
}

/* Householder's steps for the n columns of a matrix A of which only A^T A (gram) and the first 64
 * rows (top) are at hand; made: the identity. Column k minus f times column j for all j left of it
 * is what step k finds: what s.made[k] makes of A. Ends with a barrier. */
__device__ __forceinline__ void reflect(
        struct steps &s, int n, quarter &gram, quarter &top, quarter &made)
{
	static_assert(STRIPES == 4, "a call for each");
	reflect_stripe<0>(s, n, gram, top, made);
	reflect_stripe<1>(s, n, gram, top, made);
	reflect_stripe<2>(s, n, gram, top, made);
	reflect_stripe<3>(s, n, gram, top, made);
	__syncthreads();
}

/* ---- inverse of a triangle ---- */

struct triangles {
	square of, inverse, product;
};

/* Column of a block of 8 on the diagonal by substitution, a thread each. */
__device__ __forceinline__ void invert_blocks(struct triangles &s)
{
	const int k = (int)threadIdx.x, first = k / 8 * 8;
	double x[8];

	if (k >= ORDER)
		return;
#pragma unroll
	for (int i = 7; i >= 0; i--) {
		double sum = first + i == k;
#pragma unroll
		for (int j = i + 1; j < 8; j++)
			sum -= s.of[first + i][first + j] * x[j];
		x[i] = first + i > k ? 0 : sum * reciprocal_of(s.of[first + i][first + i]);
		s.inverse[first + i][k] = x[i];
	}
}

/* to = the blocks of `height` rows right of the even blocks on the diagonal of left times right:
 * from the blocks `left` and `right` of each pair. */
template <int height>
__device__ __forceinline__ void multiply_pairs(
        const square &left, int left_at, const square &right, int right_at, double sign, square &to)
{
	const int elements = ORDER / 2 * height;
#pragma unroll
	for (int e = (int)threadIdx.x; e < elements; e += SIDE * SIDE) {
		const int column = e % height, row = e / height % height;
		const int first = e / (height * height) * 2 * height;
		double sum = 0;
#pragma unroll 8
		for (int k = 0; k < height; k++)
			sum += left[first + row][first + left_at + k] *
			       right[first + right_at + k][first + height + column];
		to[first + row][first + height + column] = sign * sum;
	}
	__syncthreads();
}

template <int height> __device__ __forceinline__ void join(struct triangles &s)
{
	multiply_pairs<height>(s.of, height, s.inverse, height, 1, s.product);
	multiply_pairs<height>(s.inverse, 0, s.product, 0, -1, s.inverse);
}

/* s.inverse, which is zero, becomes s.of^-1; both are upper triangles. Between barriers. */
__device__ __forceinline__ void invert(struct triangles &s)
{
	static_assert(ORDER == 64, "joined three times");
	invert_blocks(s);
	__syncthreads();
	join<8>(s);
	join<16>(s);
	join<32>(s);
}

} // namespace

#endif
