/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt, one kernel a pass. A block of threads has some rows of all its columns. The rows
 * of column j (v) and of column j+1 (w) stay in registers while the block goes through its
 * columns. A pass reads and writes each element once, 8 bytes in single precision; dot products
 * and update in two kernels move 12.
 *
 * Normalization is delayed: v is the orthogonalized, not yet normalized column j, a_k -= v (v^T
 * a_k) / (v^T v), and |v| comes from the same reduction. Column j of A becomes q_j = v / |v|
 * while other blocks still read v, and column j + 1 becomes w while they read its old value.
 * Both are therefore kept in the workspace.
 *
 * Sums go over a thread's rows, the warp, the block's warps, and in the next kernel over the
 * blocks of a column, always in the same order: results repeat bit for bit. Every other pass
 * goes backwards through the columns and finds the last pass's end in L2. */
#pragma once

#include "gram_pass_plan.h"
#include "gram_schmidt_finish.cuh"
#include "lib/device/early_launch.cuh"
#include "lib/device/launch_bounds.cuh"
#include "lib/device/reduce.cuh"

namespace
{

const int THREADS = GRAM_PASS_THREADS, WARPS = THREADS / 32;
const int COLUMNS = GRAM_PASS_COLUMNS;

template <typename T> struct pass {
	T *a, *r;
	const T *norms;
	const T *v, *sums_v; /* of column j: its rows, and partial dot products (UPDATE) */
	T *w, *sums_w;       /* of the next one: written (DOTS) */
	int64_t m, lda, ldr;
	int n, j;
	int parts_v;        /* partial sums of each dot product in sums_v */
	int each;           /* neighbouring columns of a group; 0: every groups-th column */
	int groups, chunks; /* blocks that share the columns; blocks that share the rows */
	double dependent;
	int64_t first;
	int *info;
};

/* ---- rows of a column ---- */

template <typename T, int V> struct alignas(sizeof(T) * V) pack {
	T v[V];
};

/* Bypasses L1, which may hold lines from before the last kernel's end: this kernel may start
 * before that end. */
static __device__ __forceinline__ void load_cells(pack<float, 4> &x, const float *from)
{
	*(float4 *)&x = __ldcg((const float4 *)from);
}

static __device__ __forceinline__ void load_cells(pack<double, 2> &x, const double *from)
{
	*(double2 *)&x = __ldcg((const double2 *)from);
}

template <typename T>
static __device__ __forceinline__ void load_cells(pack<T, 1> &x, const T *from)
{
	x.v[0] = __ldcg(from);
}

/* One store: an assignment of the pack becomes a store a word. */
static __device__ __forceinline__ void store_cells(float *to, const pack<float, 4> &x)
{
	__stcg((float4 *)to, make_float4(x.v[0], x.v[1], x.v[2], x.v[3]));
}

static __device__ __forceinline__ void store_cells(double *to, const pack<double, 2> &x)
{
	__stcg((double2 *)to, make_double2(x.v[0], x.v[1]));
}

template <typename T> static __device__ __forceinline__ void store_cells(T *to, const pack<T, 1> &x)
{
	__stcg(to, x.v[0]);
}

/* A thread's rows of a block's chunk: V neighbours, U times, THREADS * V apart. */
template <typename T, int V, int U> struct rows {
	pack<T, V> x[U];

	template <bool EDGE> __device__ __forceinline__ void load(const T *column, int64_t left)
	{
#pragma unroll
		for (int u = 0; u < U; u++) {
			const int64_t at = (int64_t)u * THREADS * V;
			if (!EDGE || at + V <= left)
				load_cells(x[u], column + at);
			else
#pragma unroll
				for (int i = 0; i < V; i++)
					x[u].v[i] = at + i < left ? __ldcg(column + at + i) : T(0);
		}
	}

	template <bool EDGE> __device__ __forceinline__ void store(T *column, int64_t left) const
	{
#pragma unroll
		for (int u = 0; u < U; u++) {
			const int64_t at = (int64_t)u * THREADS * V;
			if (!EDGE || at + V <= left)
				store_cells(column + at, x[u]);
			else
#pragma unroll
				for (int i = 0; i < V; i++)
					if (at + i < left)
						column[at + i] = x[u].v[i];
		}
	}

	__device__ __forceinline__ void subtract(T factor, const rows &v)
	{
#pragma unroll
		for (int u = 0; u < U; u++)
#pragma unroll
			for (int i = 0; i < V; i++)
				x[u].v[i] -= factor * v.x[u].v[i];
	}

	__device__ __forceinline__ void divide(T by)
	{
#pragma unroll
		for (int u = 0; u < U; u++)
#pragma unroll
			for (int i = 0; i < V; i++)
				x[u].v[i] = by == T(0) ? T(0) : x[u].v[i] / by;
	}

	__device__ __forceinline__ T dot(const rows &w) const
	{
		T sum = T(0);
#pragma unroll
		for (int u = 0; u < U; u++)
#pragma unroll
			for (int i = 0; i < V; i++)
				sum += x[u].v[i] * w.x[u].v[i];
		return sum;
	}
};

/* ---- the factors of column j ---- */

struct shared_sums {
	union {
		float s[WARPS][COLUMNS];
		double d[WARPS][COLUMNS];
	} by_warp;
	union {
		float s[COLUMNS + 2];
		double d[COLUMNS + 2];
	} factor;
};

static __device__ __forceinline__ float *by_warp(struct shared_sums &s, int warp, float)
{
	return s.by_warp.s[warp];
}

static __device__ __forceinline__ double *by_warp(struct shared_sums &s, int warp, double)
{
	return s.by_warp.d[warp];
}

static __device__ __forceinline__ float *factors(struct shared_sums &s, float)
{
	return s.factor.s;
}

static __device__ __forceinline__ double *factors(struct shared_sums &s, double)
{
	return s.factor.d;
}

/* The block's columns: first + i step, i = 0 .. count - 1. Group 0 has the first of all. */
struct share {
	int group, first, step, count;

	__device__ __forceinline__ int column(int i) const
	{
		return first + i * step;
	}
};

/* The dot products of column j with the block's columns, with itself and with column j + 1 (if
 * it exists) into factor[0 ..], [count] and [count + 1]. `lanes` threads add up one of them. */
template <typename T>
static __device__ void gather(const struct pass<T> &p, const struct share &mine, T *factor)
{
	const int wanted = mine.count + (p.j + 1 < p.n ? 2 : 1);
	int lanes = 1;
	while (lanes < 32 && lanes < p.parts_v)
		lanes *= 2;
	const int lane = threadIdx.x % lanes, at_once = THREADS / lanes;
	for (int i0 = 0; i0 < wanted; i0 += at_once) {
		const int i = i0 + threadIdx.x / lanes;
		const int k = i < mine.count ? mine.column(i) : p.j + i - mine.count;
		T sum = T(0);
		for (int part = lane; i < wanted && part < p.parts_v; part += lanes)
			sum += __ldcg(p.sums_v + (int64_t)part * p.n + k);
		for (int step = lanes / 2; step > 0; step /= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, step);
		if (lane == 0 && i < wanted)
			factor[i] = sum;
	}
}

/* Turns factor[0 .. count-1] and [count + 1] from dot products into multiples of v, and writes
 * row j of R. Returns |v|, 0 for a dependent column. before: its first squared norm. */
template <typename T>
static __device__ T settle(
        const struct pass<T> &p, const struct share &mine, bool writes, T before, T *factor)
{
	const T square = factor[mine.count];
	const bool dependent = is_dependent(square, before, p.dependent);
	const T norm = dependent ? T(0) : sqrt(square);
	__syncthreads(); /* all threads have read the square */
	for (int i = threadIdx.x; i < mine.count + (p.j + 1 < p.n ? 2 : 1); i += THREADS) {
		if (i == mine.count)
			continue;
		const T multiple = dependent ? T(0) : factor[i] / square;
		factor[i] = multiple;
		if (writes && i < mine.count)
			p.r[p.j + mine.column(i) * p.ldr] = multiple * norm;
	}
	if (writes && mine.group == 0 && threadIdx.x == 0) {
		p.r[p.j + p.j * p.ldr] = norm;
		if (dependent)
			note_dependent(p.info, (int)(p.first + p.j + 1));
	}
	__syncthreads();
	return norm;
}

/* ---- the pass ---- */

/* The i-th of the block's columns in the order of the pass. */
static __device__ __forceinline__ int place_of(const struct share &mine, bool backward, int i)
{
	return backward ? mine.count - 1 - i : i;
}

/* The block's rows of columns i0 and after. */
template <typename T, int V, int U, int AT_ONCE> struct batch {
	rows<T, V, U> x[AT_ONCE];

	template <bool EDGE>
	__device__ __forceinline__ void load(const struct pass<T> &p, const struct share &mine,
	        int64_t row, bool backward, int i0)
	{
#pragma unroll
		for (int c = 0; c < AT_ONCE; c++)
			if (i0 + c < mine.count)
				x[c].template load<EDGE>(
				        p.a + row +
				                mine.column(place_of(mine, backward, i0 + c)) *
				                        p.lda,
				        p.m - row);
	}
};

/* The first columns are loaded while the dot products are summed, except in an update of many
 * columns in L2, where the early loads cost time. */
template <typename T, int V, int U, bool UPDATE, bool DOTS, bool EDGE>
static __device__ __forceinline__ void run_pass(const struct pass<T> &p, int chunk,
        const struct share &mine, bool backward, struct shared_sums &shared)
{
	const int AT_ONCE = GRAM_PASS_AT_ONCE(U, UPDATE && DOTS);
	const int64_t row = (int64_t)chunk * THREADS * V * U + threadIdx.x * V, left = p.m - row;
	T *factor = factors(shared, T(0)), *sums = by_warp(shared, threadIdx.x / 32, T(0));
	rows<T, V, U> v, w;
	batch<T, V, U, AT_ONCE> b;
	const T before = UPDATE ? __ldcg(p.norms + p.j) : T(0);
	if (UPDATE)
		v.template load<EDGE>(p.v + row, left);
	if (DOTS)
		w.template load<EDGE>(p.a + row + (p.j + UPDATE) * p.lda, left);
	const bool early = DOTS || p.each > 0;
	if (early)
		b.template load<EDGE>(p, mine, row, backward, 0);
	if (UPDATE) {
		gather(p, mine, factor);
		__syncthreads();
		const T norm = settle(p, mine, chunk == 0, before, factor);
		if (DOTS)
			w.subtract(factor[mine.count + 1], v);
		if (mine.group == 0) {
			rows<T, V, U> q = v;
			q.divide(norm);
			q.template store<EDGE>(p.a + row + p.j * p.lda, left);
		}
	}
	if (DOTS && mine.group == 0)
		w.template store<EDGE>(p.w + row, left);
	if (!early)
		b.template load<EDGE>(p, mine, row, backward, 0);
	for (int i0 = 0; i0 < mine.count; i0 += AT_ONCE) {
		T sum[AT_ONCE];
#pragma unroll
		for (int c = 0; c < AT_ONCE; c++) {
			const int i = place_of(mine, backward, i0 + c);
			sum[c] = T(0);
			if (i0 + c >= mine.count)
				break;
			if (UPDATE) {
				b.x[c].subtract(factor[i], v);
				if (!DOTS || mine.column(i) != p.j + 1)
					b.x[c].template store<EDGE>(
					        p.a + row + mine.column(i) * p.lda, left);
			}
			if (DOTS)
				sum[c] = b.x[c].dot(w);
		}
		b.template load<EDGE>(p, mine, row, backward, i0 + AT_ONCE);
#pragma unroll
		for (int c = 0; DOTS && c < AT_ONCE; c++) {
			const T total = warp_sum(sum[c]);
			if (threadIdx.x % 32 == 0 && i0 + c < mine.count)
				sums[place_of(mine, backward, i0 + c)] = total;
		}
	}
}

/* Each block has every groups-th column, or `each` neighbouring columns, with blocks numbered in
 * the order of the pass. */
template <typename T>
static __device__ __forceinline__ struct share share_of(
        const struct pass<T> &p, int begin, int group, bool backward)
{
	const int all = p.n - begin;
	if (p.each == 0)
		return {group, begin + group, p.groups,
		        all > group ? (all - group + p.groups - 1) / p.groups : 0};
	const int at = backward ? p.groups - 1 - group : group, past = all - at * p.each;
	return {at, begin + at * p.each, 1, past < p.each ? past : p.each};
}

template <typename T, int V, int U, bool UPDATE, bool DOTS>
__global__ void __launch_bounds__(THREADS, sm_blocks(THREADS, GRAM_PASS_BLOCKS(V, U)))
        pass_kernel(const struct pass<T> p)
{
	__shared__ struct shared_sums shared;
	const bool backward = UPDATE && DOTS ? !(p.j & 1) : UPDATE;
	const int chunk = blockIdx.x % p.chunks;
	const struct share mine = share_of(p, p.j + UPDATE, blockIdx.x / p.chunks, backward);
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
	if ((int64_t)(chunk + 1) * THREADS * V * U <= p.m)
		run_pass<T, V, U, UPDATE, DOTS, false>(p, chunk, mine, backward, shared);
	else
		run_pass<T, V, U, UPDATE, DOTS, true>(p, chunk, mine, backward, shared);
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
	if (!DOTS)
		return;
	__syncthreads();
	for (int i = threadIdx.x; i < mine.count; i += THREADS) {
		T sum = T(0);
#pragma unroll
		for (int warp = 0; warp < WARPS; warp++)
			sum += by_warp(shared, warp, T(0))[i];
		p.sums_w[(int64_t)chunk * p.n + mine.column(i)] = sum;
	}
}

template <typename T> __global__ void norms_kernel(const T *a, int64_t lda, int64_t m, T *norms)
{
	__shared__ struct sum_scratch<T> scratch;
	const T *x = a + blockIdx.x * lda;
	T sum = T(0);
	for (int64_t i = threadIdx.x; i < m; i += THREADS)
		sum += x[i] * x[i];
	sum = block_sum(sum, &scratch, 0);
	if (threadIdx.x == 0)
		norms[blockIdx.x] = sum;
}

} // namespace
