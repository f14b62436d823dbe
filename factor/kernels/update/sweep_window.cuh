/* SPDX-License-Identifier: MIT */
/* A window of WIDTH columns and P further rows in the registers of four warps: its Householder
 * reflectors, V and T.
 *
 * Only the diagonal and P rows of column j take part. Four lanes have a column, each P/4 of its
 * rows. If the band slides, the lane of row j takes row j + P in its place, and registers rotate
 * by one after all four lanes. A column costs the transfer of P words through shared memory, one
 * block barrier, P/4 products, two shuffles, a root and a reciprocal. A finished column stays as
 * a multiple of v. Four other warps make T from its products with later columns, one column
 * behind. */
#pragma once

#include "factor/kernels/qr/reflector.cuh"
#include "factor/kernels/blocks/shared_update.cuh"

enum {
	WIDTH = 32,
	PITCH = WIDTH + 4, /* words; rows begin at 16 bytes, eight of them in different banks */
	LANES = 4,         /* of a column */
	MAKERS = 128,      /* threads with the window's columns */
	MAKERS_AND_T = 2 * MAKERS,
	CARRIERS = 128, /* threads after the makers */
	SWEEP_THREADS = MAKERS_AND_T + CARRIERS
};

/* Barriers for some of the threads. */
enum { BARRIER_MAKE = 1, BARRIER_APPLY };

/* v is x times scale, then times divide. */
template <typename real> struct multiple {
	real scale, divide;
};

/* A buffer holds, for the next window's columns, the P + WIDTH rows of this window and the WIDTH
 * new rows of the next. */
template <typename real, int P> struct window_memory {
	static constexpr int rows = WIDTH + P, incoming = WIDTH + P;
	static constexpr int published = (2 * WIDTH + P) * WIDTH; /* words of V and T */
	alignas(16) real c[2][2 * WIDTH + P][PITCH];
	alignas(16) real v[WIDTH + P][PITCH];
	alignas(16) real t[WIDTH][PITCH];
	alignas(16) real y[WIDTH][WIDTH]; /* y[j]: V^T v_j tau_j, tau_j, zeros */
	alignas(16) real part[4][WIDTH][PITCH];
	alignas(16) real x[3][P + 4]; /* column j below the diagonal; its diagonal */
	struct multiple<real> v_of_x[WIDTH];
};

/* A barrier of that many threads; all must call it. */
template <int barrier, int threads> static __device__ __forceinline__ void some_barrier(void)
{
	asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory");
}

/* The place of register i of the lane of rank `at` among a column's words. */
static __device__ __forceinline__ int place(int at, int i)
{
	return i / 4 * 4 * LANES + at * 4 + i % 4;
}

template <int R, typename real>
static __device__ __forceinline__ void store_column(real *to, int at, const real (&a)[R])
{
#pragma unroll
	for (int i = 0; i < R; i++)
		to[place(at, i)] = a[i];
}

template <int R, typename real>
static __device__ __forceinline__ void load_column(real (&x)[R], const real *from, int at)
{
#pragma unroll
	for (int i = 0; i < R; i += 4) {
		const auto some = load_quad(from + place(at, i));
#pragma unroll
		for (int k = 0; k < 4; k++)
			x[i + k] = some.x[k];
	}
}

/* Sum over the lanes of a column of x times a. */
template <int R, typename real>
static __device__ __forceinline__ real product(const real (&x)[R], const real (&a)[R])
{
	real sum[4];
#pragma unroll
	for (int i = 0; i < 4; i++)
		sum[i] = x[i] * a[i];
#pragma unroll
	for (int i = 4; i < R; i++)
		sum[i % 4] += x[i] * a[i];
	real all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
#pragma unroll
	for (int step = LANES / 2; step > 0; step /= 2)
		all += __shfl_xor_sync(0xffffffffu, all, step);
	return all;
}

/* The reflector of (alpha, x), and x times a. If sums leave the safe range, x is scaled, and a
 * with it when a is x (own). Returns v as a multiple of the unscaled x. */
template <int R, typename real>
static __device__ __forceinline__ struct multiple<real> reflect(
        real (&x)[R], real (&a)[R], bool own, real alpha, struct reflector<real> *h, real *sum) {
	const real squares = product(x, x);
	real below = real(0);
	*sum = product(x, a);
	*h = reflector_of_safe(alpha, squares);
	const bool bad = !is_safe(alpha, squares) || !isfinite(*sum);
	if (__builtin_expect(!__any_sync(0xffffffffu, bad), 1))
		return {real(1), h->divide};
#pragma unroll
	for (int i = 0; i < R; i++)
		below = larger_of(below, fabs(x[i]));
	for (int step = LANES / 2; step > 0; step /= 2)
		below = larger_of(below, __shfl_xor_sync(0xffffffffu, below, step));
	if (below == real(0)) {
		*sum = real(0);
		*h = reflector_none(alpha);
		return {real(1), real(0)};
	}
	const int scale = scale_for(larger_of(below, fabs(alpha)));
#pragma unroll
	for (int i = 0; i < R; i++) {
		x[i] = scaled(x[i], scale);
		a[i] = own ? x[i] : a[i];
	}
	*sum = product(x, a);
	*h = reflector_of_safe(scaled(alpha, scale), product(x, x));
	h->beta = scaled(h->beta, -scale);
	return {power_of_two(alpha, scale / 2), scaled(h->divide, scale - scale / 2)};
}

/* The ones and zeros of V in every window. */
template <typename real, int P>
static __device__ __forceinline__ void clear_v(struct window_memory<real, P> &s)
{
	for (int i = (int)threadIdx.x; i < (WIDTH + P) * WIDTH; i += SWEEP_THREADS)
		s.v[i / WIDTH][i % WIDTH] = real(i / WIDTH == i % WIDTH);
}

/* Called by MAKERS threads, for the window whose first P rows below its own begin at row WIDTH
 * of the buffer. Its later rows (SLIDES), or rows of the triangle, follow. R's rows replace the
 * rows they come from. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ void make_window(
        struct window_memory<real, P> &s, real (*c)[PITCH])
{
	constexpr int R = P / LANES, incoming = window_memory<real, P>::incoming;
	const int lane = (int)threadIdx.x % 32, at = lane % LANES;
	const int column = (int)threadIdx.x / LANES;
	/* the first lane stores R's rows, the second one what T is made of */
	real *out = at == 0 ? &c[SLIDES ? WIDTH : incoming][column] : &s.y[0][column];
	real a[R], next = c[incoming][column], multiple = real(1); /* v = multiple * a */
#pragma unroll
	for (int i = 0; i < R; i++)
		a[i] = c[WIDTH + LANES * i + at][column];
#pragma unroll 1
	for (int base = 0; base < WIDTH; base += LANES) {
#pragma unroll 1
		for (int turn = 0; turn < LANES; turn++) {
			const int j = base + turn;
			real *x_shared = s.x[j % 3], x[R], sum, top = next;
			struct reflector<real> h;
			if (SLIDES) {
				top = a[0];
				a[0] = at == turn ? next : a[0];
			}
			if (column == j) {
				store_column(x_shared, at, a);
				if (at == turn)
					x_shared[P] = top;
			}
			next = j + 1 < WIDTH && column > j ? c[incoming + j + 1][column] : real(0);
			if (SLIDES)
				top = __shfl_sync(0xffffffffu, top, (lane & ~(LANES - 1)) + turn);
			some_barrier<BARRIER_MAKE, MAKERS_AND_T>();
			load_column(x, x_shared, at);
			const auto v = reflect(x, a, column == j, x_shared[P], &h, &sum);
			const real part = multiple * (top + h.divide * sum), y = h.tau * part;
			const real times = column > j ? h.tau * h.divide * part : real(0);
#pragma unroll
			for (int i = 0; i < R; i++)
				a[i] = minus_product(a[i], x[i], times);
			const real row = column > j ? top - y : column == j ? h.beta : real(0);
			const real known = column < j ? y : column == j ? h.tau : real(0);
			if (at < 2)
				*out = at == 0 ? row : known;
			out += at == 0 ? PITCH : WIDTH;
			multiple = column == j ? h.divide : multiple;
			if (threadIdx.x == 0)
				s.v_of_x[j] = v;
		}
		const real first = a[0];
#pragma unroll
		for (int i = 0; SLIDES && i + 1 < R; i++)
			a[i] = a[i + 1];
		a[R - 1] = SLIDES ? first : a[R - 1];
	}
	some_barrier<BARRIER_MAKE, MAKERS_AND_T>();
}

/* ---- V and T, by the MAKERS threads after these, one column behind ---- */

/* v_j where it can differ from 0 and 1. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ void store_v(struct window_memory<real, P> &s, int j, int thread)
{
	const struct multiple<real> m = s.v_of_x[j];
	const int at = thread % LANES, base = j / LANES * LANES;
#pragma unroll
	for (int i = thread / LANES; i < P / LANES; i += MAKERS / LANES) {
		const int row = !SLIDES                    ? WIDTH + LANES * i + at
		                : i == 0 && at <= j - base ? base + at + P
		                                           : base + LANES * i + at;
		s.v[row][j] = s.x[j % 3][place(at, i)] * m.scale * m.divide;
	}
}

/* Column j of T in the lanes' parts of their rows: T(0:j, j) = -T(0:j, 0:j) y_j. */
template <typename real>
static __device__ __forceinline__ void extend_t(
        real (&part)[WIDTH / LANES], int row, int first, const real *y, int j)
{
	real sum = real(0), other = real(0);
#pragma unroll
	for (int k = 0; k < WIDTH / LANES; k += 4) {
		const auto some = load_quad(y + first + k);
		sum = minus_product(sum, part[k], some.x[0]);
		other = minus_product(other, part[k + 1], some.x[1]);
		sum = minus_product(sum, part[k + 2], some.x[2]);
		other = minus_product(other, part[k + 3], some.x[3]);
	}
	sum += other;
	for (int step = LANES / 2; step > 0; step /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, step);
	sum = row < j ? sum : row == j ? y[j] : real(0);
#pragma unroll
	for (int k = 0; k < WIDTH / LANES; k++)
		part[k] = first + k == j ? sum : part[k];
}

template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ void make_t(struct window_memory<real, P> &s)
{
	const int thread = (int)threadIdx.x - MAKERS, row = thread / LANES;
	const int first = thread % LANES * (WIDTH / LANES);
	real part[WIDTH / LANES] = {};
#pragma unroll 1
	for (int j = 0; j <= WIDTH; j++) {
		some_barrier<BARRIER_MAKE, MAKERS_AND_T>();
		if (j > 0) {
			extend_t(part, row, first, s.y[j - 1], j - 1);
			store_v<real, P, SLIDES>(s, j - 1, thread);
		}
	}
#pragma unroll
	for (int k = 0; k < WIDTH / LANES; k++)
		s.t[row][first + k] = part[k];
}
