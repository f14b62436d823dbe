/* SPDX-License-Identifier: MIT */
/* A window of WIDTH columns and P rows more in the registers of eight warps: its Householder
 * reflectors, V and T.
 *
 * Of column j only the diagonal and P rows take part: eight lanes have a column, each P/8 of its
 * rows. Where the band slides, the lane that had row j takes row j + P in its place, and registers
 * turn by one when all eight lanes have. So a column costs the writing and reading of P words
 * through shared memory, one block barrier, P/8 products, three shuffles, a root and a reciprocal.
 * A column that is done stays as v: the products with later ones are what T is made of, by a ninth
 * warp, one column behind. */
#ifndef FATHOM_SWEEP_WINDOW_CUH
#define FATHOM_SWEEP_WINDOW_CUH

#include "reflector.cuh"
#include "shared_update.cuh"

enum {
	WIDTH = 32,
	PITCH = WIDTH + 4, /* words; rows begin at 16 bytes, eight of them in different banks */
	MAKERS = 256,      /* threads that have the window's columns */
	MAKERS_AND_T = MAKERS + 32,
	SWEEP_THREADS = MAKERS_AND_T + 96
};

/* A buffer holds, for the next window's columns, the P + WIDTH rows of this one and the WIDTH rows
 * that are new in the next. */
template <typename real, int P> struct window_memory {
	static constexpr int rows = WIDTH + P, incoming = WIDTH + P;
	static constexpr int published = (2 * WIDTH + P) * WIDTH; /* words of V and T */
	alignas(16) real c[2][2 * WIDTH + P][PITCH];
	alignas(16) real v[WIDTH + P][PITCH];
	alignas(16) real t[WIDTH][PITCH];
	alignas(16) real y[WIDTH][WIDTH]; /* y[j]: V^T v_j tau_j, tau_j, zeros */
	alignas(16) real part[4][WIDTH][PITCH];
	alignas(16) real x[2][P + 4]; /* column j below the diagonal; its diagonal */
};

/* Of so many threads, which all come here. */
template <int barrier, int threads> static __device__ __forceinline__ void some_barrier(void)
{
	asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory");
}

/* Where register i of the lane of rank `at` stands among a column's words. */
template <int R> static __device__ __forceinline__ int place(int at, int i)
{
	return R < 4 ? at * R + i : i / 4 * 32 + at * 4 + i % 4;
}

template <int R, typename real>
static __device__ __forceinline__ void store_column(real *to, int at, const real (&a)[R])
{
#pragma unroll
	for (int i = 0; i < R; i++)
		to[place<R>(at, i)] = a[i];
}

template <int R, typename real>
static __device__ __forceinline__ void load_column(real (&x)[R], const real *from, int at)
{
	if constexpr (R < 4) {
#pragma unroll
		for (int i = 0; i < R; i++)
			x[i] = from[place<R>(at, i)];
	} else {
#pragma unroll
		for (int i = 0; i < R; i += 4) {
			const auto some = load_quad(from + place<R>(at, i));
#pragma unroll
			for (int k = 0; k < 4; k++)
				x[i + k] = some.x[k];
		}
	}
}

/* Sums over the eight lanes of a column: of x times a, of x times x. */
template <int R, typename real>
static __device__ __forceinline__ void products(
        const real (&x)[R], const real (&a)[R], real *sum, real *squares)
{
	real odd_sum = x[1] * a[1], odd_squares = x[1] * x[1];
	*sum = x[0] * a[0];
	*squares = x[0] * x[0];
#pragma unroll
	for (int i = 2; i < R; i += 2) {
		*sum += x[i] * a[i];
		*squares += x[i] * x[i];
		odd_sum += x[i + 1] * a[i + 1];
		odd_squares += x[i + 1] * x[i + 1];
	}
	*sum += odd_sum;
	*squares += odd_squares;
#pragma unroll
	for (int step = 4; step > 0; step /= 2) {
		*sum += __shfl_xor_sync(0xffffffffu, *sum, step);
		*squares += __shfl_xor_sync(0xffffffffu, *squares, step);
	}
}

/* The reflector of (alpha, x), and x times a. x is scaled when the sums leave the safe range. */
template <int R, typename real>
static __device__ __forceinline__ struct reflector<real> reflect(
        real (&x)[R], const real (&a)[R], real alpha, real *sum) {
	real squares, below = real(0);
	products(x, a, sum, &squares);
	struct reflector<real> h = reflector_of_safe(alpha, squares);
	if (!__any_sync(0xffffffffu, !is_safe(alpha, squares) || !isfinite(*sum)))
		return h;
#pragma unroll
	for (int i = 0; i < R; i++)
		below = larger_of(below, fabs(x[i]));
	for (int step = 4; step > 0; step /= 2)
		below = larger_of(below, __shfl_xor_sync(0xffffffffu, below, step));
	if (below == real(0)) {
		*sum = real(0);
		return reflector_none(alpha);
	}
	const real scale = scale_for(larger_of(below, fabs(alpha)));
#pragma unroll
	for (int i = 0; i < R; i++)
		x[i] *= scale;
	products(x, a, sum, &squares);
	h = reflector_of_safe(alpha * scale, squares);
	h.beta /= scale;
	return h;
}

/* v_j, which the lanes of four columns have as x: each group of them writes a part, each lane an
 * element outside of it. */
template <typename real, int P, int R, bool SLIDES>
static __device__ __forceinline__ void store_v(
        struct window_memory<real, P> &s, int j, const real (&x)[R])
{
	const int lane = (int)threadIdx.x % 32, at = lane % 8, group = lane / 8;
	const int base = j & ~7, above = SLIDES && lane > j ? P : 0;
#pragma unroll
	for (int i = 0; i < R; i++) {
		const int row = !SLIDES                    ? WIDTH + 8 * i + at
		                : i == 0 && at <= j - base ? base + at + P
		                                           : base + 8 * i + at;
		if (i % 4 == group)
			s.v[row][j] = x[i];
	}
	s.v[above + lane][j] = real(lane == j);
}

/* By MAKERS threads: the window whose P rows below its first begin at row WIDTH of the buffer and
 * whose later ones (SLIDES), or rows of the triangle, follow these. R's rows take the place of
 * those it was made of. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ void make_window(
        struct window_memory<real, P> &s, real (*c)[PITCH])
{
	constexpr int R = P / 8, incoming = window_memory<real, P>::incoming;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, at = lane % 8;
	const int column = warp * 4 + lane / 8, result = SLIDES ? WIDTH : incoming;
	real a[R], next = c[incoming][column];
#pragma unroll
	for (int i = 0; i < R; i++)
		a[i] = c[WIDTH + 8 * i + at][column];
#pragma unroll 1
	for (int j = 0; j < WIDTH; j++) {
		const bool mine = at == j % 8;
		real *x_shared = s.x[j % 2], x[R], sum, top = next;
		if (SLIDES) {
			top = a[0];
			a[0] = mine ? next : a[0];
		}
		if (column == j) {
			store_column(x_shared, at, a);
			if (mine)
				x_shared[P] = top;
		}
		next = j + 1 < WIDTH && column > j ? c[incoming + j + 1][column] : real(0);
		if (SLIDES)
			top = __shfl_sync(0xffffffffu, top, (lane & 24) + j % 8);
		some_barrier<1, MAKERS_AND_T>();
		load_column(x, x_shared, at);
		const struct reflector<real> h = reflect(x, a, x_shared[P], &sum);
		const real product = h.tau * (top + h.divide * sum);
		const real times = column > j ? product : real(0);
#pragma unroll
		for (int i = 0; i < R; i++) {
			x[i] *= h.divide;
			a[i] = column == j ? x[i] : minus_product(a[i], x[i], times);
		}
		if (at == 0) {
			c[result + j][column] = column > j    ? top - times
			                        : column == j ? h.beta
			                                      : real(0);
			s.y[j][column] = column < j ? product : column == j ? h.tau : real(0);
		}
		if (warp == (j / 4 + 4) % 8)
			store_v<real, P, R, SLIDES>(s, j, x);
		if (SLIDES && j % 8 == 7) {
			const real first = a[0];
#pragma unroll
			for (int i = 0; i + 1 < R; i++)
				a[i] = a[i + 1];
			a[R - 1] = first;
		}
	}
	some_barrier<1, MAKERS_AND_T>();
}

/* Column j of T in the warp's rows: T(0:j, j) = -T(0:j, 0:j) y_j. */
template <typename real>
static __device__ __forceinline__ void extend_t(real (&row)[WIDTH], const real *y, int j)
{
	const int lane = (int)threadIdx.x % 32;
	real sum = real(0), other = real(0);
#pragma unroll
	for (int k = 0; k < WIDTH; k += 4) {
		const auto some = load_quad(y + k);
		sum = minus_product(sum, row[k], some.x[0]);
		other = minus_product(other, row[k + 1], some.x[1]);
		sum = minus_product(sum, row[k + 2], some.x[2]);
		other = minus_product(other, row[k + 3], some.x[3]);
	}
	sum = lane < j ? sum + other : lane == j ? y[j] : real(0);
#pragma unroll
	for (int k = 0; k < WIDTH; k++)
		row[k] = k == j ? sum : row[k];
}

/* By the warp after the makers, beside them. */
template <typename real, int P>
static __device__ __forceinline__ void make_t(struct window_memory<real, P> &s)
{
	const int lane = (int)threadIdx.x % 32;
	real row[WIDTH] = {};
#pragma unroll 1
	for (int j = 0; j <= WIDTH; j++) {
		some_barrier<1, MAKERS_AND_T>();
		if (j > 0)
			extend_t(row, s.y[j - 1], j - 1);
	}
#pragma unroll
	for (int k = 0; k < WIDTH; k++)
		s.t[lane][k] = row[k];
}

#endif
