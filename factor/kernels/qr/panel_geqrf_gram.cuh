/* SPDX-License-Identifier: MIT */
/* The small matrices of factor/kernels/qr/panel_geqrf_gram.cu: of order 64 in double precision, in
 * one block of 16 x 16 threads. Thread (x, y) holds rows y, y + 16, ... of columns x, x + 16, ...
 */
#pragma once

#include "lib/base/base.h"
#include "factor/kernels/gemm/gemm_mma.cuh"

namespace
{

const double LIMIT = 1e6; /* bound of the elements of Y, for columns of norm 1 */

enum { ORDER = 64, SIDE = 16, STRIPES = ORDER / SIDE };

typedef double square[ORDER][ORDER + 1];  /* in shared memory */
typedef double quarter[STRIPES][STRIPES]; /* a thread's elements of a square */

__device__ __forceinline__ int at_row(int i)
{
	return (int)threadIdx.x / SIDE + SIDE * i;
}

__device__ __forceinline__ int at_column(int j)
{
	return (int)threadIdx.x % SIDE + SIDE * j;
}

/* ---- reflectors from a Gram matrix ---- */

/* The results of step k; other entries are undefined: */
struct steps {
	square gram;           /* [k]: row k right of its diagonal, */
	square below;          /* column k of the top below its diagonal, */
	square made;           /* its column of Y, */
	double squares[ORDER]; /* the remaining squared norm of the column, */
	double alpha[ORDER];   /* the element on the diagonal, */
	double root[ORDER];    /* the norm's reciprocal, with the sign opposite to alpha's, */
	double beta[ORDER];    /* and the norm with that sign */
	double divide[ORDER];  /* 1 / (alpha - beta) */
	double scale[2];       /* of step k: -1 / (squares - alpha beta) */
	double top[2][ORDER];  /* row k of the top right of its diagonal */
};

/* 1 / x and 1 / sqrt(x) to two roundings, without the branches of the correctly rounded
 * functions; x is far from overflow and underflow. */
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

/* The scalars of a step. All threads compute them, and the compiler mixes this with their other
 * work. */
struct scalars {
	double squares, alpha, root, beta, scale;
};

__device__ __forceinline__ struct scalars prepare(double squares, double alpha)
{
	struct scalars x = {squares, alpha, 0, 0, 0};
	x.root = copysign(root_reciprocal_of(squares), -alpha);
	x.beta = squares * x.root;
	x.scale = -reciprocal_of(fma(-alpha, x.beta, squares));
	return x;
}

/* Called by the thread with the diagonal element. */
__device__ __forceinline__ void store(struct steps &s, int k, struct scalars x, bool holds)
{
	asm volatile(
	        ""
	        : "+d"(x.root), "+d"(x.beta), "+d"(x.scale)); /* keeps the computation out of the
	                                                         branch that stores the results */
	if (!holds)
		return;
	s.squares[k] = x.squares;
	s.alpha[k] = x.alpha;
	s.root[k] = x.root;
	s.beta[k] = x.beta;
	s.scale[k % 2] = x.scale;
}

/* The row with step k's pivots, and the columns. */
template <int stripe>
__device__ __forceinline__ void publish(
        struct steps &s, int k, const quarter &gram, const quarter &top, const quarter &made)
{
	if ((int)threadIdx.x / SIDE == k % SIDE) {
#pragma unroll
		for (int j = stripe; j < STRIPES; j++) {
			s.gram[k][at_column(j)] = gram[stripe][j];
			s.top[k % 2][at_column(j)] = top[stripe][j];
		}
	}
	if ((int)threadIdx.x % SIDE == k % SIDE) {
#pragma unroll
		for (int i = stripe; i < STRIPES; i++)
			s.below[k][at_row(i)] = top[i][stripe];
#pragma unroll
		for (int i = 0; i <= stripe; i++)
			s.made[k][at_row(i)] = made[i][stripe];
	}
}

/* Finished rows and columns continue to change and are not read again. The next step's pivots
 * are computed first. */
template <int stripe>
__device__ __forceinline__ void reflect_stripe(
        struct steps &s, int n, quarter &gram, quarter &top, quarter &made)
{
	const bool diagonal = (int)threadIdx.x / SIDE == (int)threadIdx.x % SIDE;
	int end = min(n, (stripe + 1) * SIDE);

	asm volatile("" : "+r"(end)); /* prevents unrolling: less code */
	/* the last step writes nothing, because other threads may still read these entries */
	store(s, stripe * SIDE, prepare(gram[stripe][stripe], top[stripe][stripe]),
	        threadIdx.x == 0 && stripe * SIDE < end);
#pragma unroll 1
	for (int k = stripe * SIDE; k < end; k++) {
		double row[STRIPES], factor[STRIPES], left[STRIPES], under[STRIPES], of[STRIPES];

		publish<stripe>(s, k, gram, top, made);
		__syncthreads();
		const double root = s.root[k], beta = s.beta[k], scale = s.scale[k % 2];
#pragma unroll
		for (int j = stripe; j < STRIPES; j++) {
			row[j] = s.gram[k][at_column(j)];
			factor[j] = s.top[k % 2][at_column(j)];
			left[j] = s.gram[k][at_row(j)];
			under[j] = s.below[k][at_row(j)];
		}
#pragma unroll
		for (int i = 0; i <= stripe; i++)
			of[i] = s.made[k][at_row(i)];
#pragma unroll
		for (int j = stripe; j < STRIPES; j++) {
			factor[j] = fma(-beta, factor[j], row[j]) * scale;
			left[j] *= -root * root;
		}
		gram[stripe][stripe] = fma(left[stripe], row[stripe], gram[stripe][stripe]);
		top[stripe][stripe] = fma(under[stripe], factor[stripe], top[stripe][stripe]);
		const struct scalars next = prepare(gram[stripe][stripe], top[stripe][stripe]);
#pragma unroll
		for (int i = stripe; i < STRIPES; i++)
#pragma unroll
			for (int j = stripe; j < STRIPES; j++) {
				if (i == stripe && j == stripe)
					continue;
				if (j >= i) /* the rest is symmetric */
					gram[i][j] = fma(left[i], row[j], gram[i][j]);
				top[i][j] = fma(under[i], factor[j], top[i][j]);
			}
#pragma unroll
		for (int i = 0; i <= stripe; i++)
#pragma unroll
			for (int j = stripe; j < STRIPES; j++)
				made[i][j] = fma(of[i], factor[j], made[i][j]);
		store(s, k + 1, next, diagonal && at_row(stripe) == k + 1);
	}
}

/* Householder's steps for the n columns of a matrix A, from A^T A (gram) and the first 64 rows
 * (top); made: the identity. Vector k is A times s.made[k]: column k minus multiples of the
 * columns left of it. Ends with a barrier. */
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

/* After reflect, from the first squares of the columns: the columns of Y in s.made. Returns
 * whether all are bounded. All threads call it, between barriers. */
__device__ __forceinline__ bool settle(struct steps &s, int n, const double *sums)
{
	const int t = (int)threadIdx.x;
	bool fine = true;

	if (t < n) {
		s.divide[t] = reciprocal_of(s.alpha[t] - s.beta[t]);
		fine = s.squares[t] > 0 && sums[t] <= LIMIT * LIMIT * s.squares[t];
	}
	__syncthreads();
	for (int e = t; e < n * ORDER; e += SIDE * SIDE) {
		const int row = e % ORDER, column = e / ORDER;
		const double y = s.made[column][row] * s.divide[column];
		if (row > column)
			continue;
		s.made[column][row] = y;
		fine = fine && y * y * sums[row] <= LIMIT * LIMIT;
	}
	return __syncthreads_and(fine);
}

/* R and below it V1. */
template <typename T>
__device__ __forceinline__ T result_of(const struct steps &s, int row, int column)
{
	return (T)(row > column    ? s.below[column][row] * s.divide[column]
	           : row == column ? s.beta[row]
	                           : s.gram[row][column] * s.root[row]);
}

/* Y, with the identity beyond its n columns. */
__device__ __forceinline__ double made_of(const struct steps &s, int n, int row, int column)
{
	return row > column || column >= n ? row == column : s.made[column][row];
}

/* ---- inverse of a triangle ---- */

struct triangles {
	square of, inverse, product;
};

/* A column of a block of 8 on the diagonal by substitution, one a thread. */
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

/* to = the blocks of `height` rows right of the even diagonal blocks of left times right, from
 * the blocks `left` and `right` of each pair. */
template <int height>
__device__ __forceinline__ void multiply_pairs(
        const square &left, int left_at, const square &right, int right_at, double sign, square &to)
{
	if (height == 8) {
		const int e = (int)threadIdx.x, column = e % 8, row = e / 8 % 8;
		const int first = e / 64 * 16;
		double sum = 0;
#pragma unroll
		for (int k = 0; k < 8; k++)
			sum += left[first + row][first + left_at + k] *
			       right[first + right_at + k][first + 8 + column];
		to[first + row][first + 8 + column] = sign * sum;
		__syncthreads();
		return;
	}
	const int across = height / 8, tiles = (height + 15) / 16 * across;
	const int warp = (int)threadIdx.x / 32, g = (int)threadIdx.x % 32 / 4,
	          t = (int)threadIdx.x % 4;
	const int first = warp / tiles * 2 * height;
	const int row = first + warp % tiles / across * 16 + g;
	const int column = first + height + warp % across * 8;
	double c[4] = {};

	if (warp < ORDER / 2 / height * tiles) {
#pragma unroll
		for (int k = 0; k < height; k += 8) {
			const int at = first + k + t;
			const double a[4] = {left[row][left_at + at], left[row + 8][left_at + at],
			        left[row][left_at + at + 4], left[row + 8][left_at + at + 4]};
			const double b[2] = {right[right_at + at][column + g],
			        right[right_at + at + 4][column + g]};
			mma_double(c, a, b);
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
			to[row + i / 2 * 8][column + 2 * t + i % 2] = sign * c[i];
	}
	__syncthreads();
}

template <int height> __device__ __forceinline__ void join(struct triangles &s)
{
	multiply_pairs<height>(s.of, height, s.inverse, height, 1, s.product);
	multiply_pairs<height>(s.inverse, 0, s.product, 0, -1, s.inverse);
}

/* s.inverse, zero at first, becomes s.of^-1; both are upper triangles. Between barriers. */
__device__ __forceinline__ void invert(struct triangles &s)
{
	static_assert(ORDER == 64, "joined three times");
	invert_blocks(s);
	__syncthreads();
	join<8>(s);
	join<16>(s);
	join<32>(s);
}

/* From V^T V (sum(i, j) for i <= j) and, unless `done`, tau: T in s.inverse, with zeros for
 * vectors that are a unit vector or not one of the n (`nothing`); tau if `done`. All threads
 * call it. */
template <typename T, typename function>
__device__ __forceinline__ void make_t(
        struct triangles &s, bool *nothing, int n, bool done, T *tau, const function &sum)
{
	const int t = (int)threadIdx.x;

	if (t < ORDER) {
		const double squares = t < n ? sum(t, t) : 1;
		nothing[t] = t >= n || (done ? squares == 1 : tau[t] == 0);
		s.of[t][t] = nothing[t] ? 1 : done ? squares / 2 : 1 / (double)tau[t];
		if (done && t < n)
			tau[t] = nothing[t] ? 0 : (T)(2 / squares);
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < ORDER * ORDER / (SIDE * SIDE); i++) {
		const int row = (t + i * SIDE * SIDE) / ORDER, column = t % ORDER;
		s.inverse[row][column] = 0;
		if (row < column)
			s.of[row][column] = nothing[row] || nothing[column] ? 0 : sum(row, column);
	}
	__syncthreads();
	invert(s);
}

/* Rows of R with an identity reflector get the other sign; T. */
template <typename T>
__device__ __forceinline__ void store_t(const struct triangles &s, const bool *nothing, int n,
        bool done, T *a, int64_t lda, T *to, int64_t ld)
{
	for (int e = (int)threadIdx.x; e < ORDER * n; e += SIDE * SIDE) {
		const int row = e % ORDER, column = e / ORDER;
		if (row >= n)
			continue;
		if (done && nothing[row] && row <= column)
			a[row + column * lda] = -a[row + column * lda];
		if (to)
			to[row + column * ld] = row > column || nothing[row] || nothing[column]
			                                ? 0
			                                : (T)s.inverse[row][column];
	}
}

} // namespace
