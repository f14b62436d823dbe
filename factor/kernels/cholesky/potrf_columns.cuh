/* SPDX-License-Identifier: MIT */
/* Cholesky of a 32 x 32 tile whose rows are in the registers of a warp. */
#pragma once

#include "factor/kernels/blocks/block_tile.cuh"

/* Reciprocal root of a positive pivot; ANY: also of subnormal ones. */
template <bool ANY> static __device__ __forceinline__ float reciprocal_root(float p)
{
	const float r = rsqrtf(p), half = 0.5f * r;
	const float better = fmaf(fmaf(-p * r, r, 1.0f), half, r);
	return p < INFINITY ? better : r;
}

template <bool ANY> static __device__ __forceinline__ double reciprocal_root(double p)
{
	if (ANY)
		return rsqrt(p); /* rsqrt branches for subnormal numbers */
	double r;
	asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(p));
	const double e = fma(-(p * r), r, 1.0);
	return fma(fma(e, 0.375, 0.5), e * r, r);
}

/* Warps that solve with a tile's factor receive it GROUP columns at a time. */
const int GROUP = 8;

/* Barriers of some of a block's warps: GROUPS barriers from COLUMNS on are for a tile's factor. */
enum { COLUMNS = 1, GROUPS = TILE / GROUP, NEXT_DIAGONAL = COLUMNS + GROUPS, NEXT_COLUMN };

/* Arrives without waiting. */
static __device__ __forceinline__ void barrier_arrive(int barrier, int warps)
{
	asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(32 * warps) : "memory");
}

static __device__ __forceinline__ void barrier_wait(int barrier, int warps)
{
	asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(32 * warps) : "memory");
}

/* A tile's factor, by columns, and the reciprocals of its diagonal, in shared memory. */
template <typename T> struct tile_factor {
	T columns[TILE * TILE];
	T roots[TILE];
};

/* The work of factor_tile, for ANY tile; otherwise for a tile whose pivots are smaller than
 * `least` only after complete cancellation. All lanes know the inputs of the next column ahead
 * of time: its pivot p, the two entries below the diagonal of the last column (u and w), and the
 * next pivot before its update (v). The chain from pivot to pivot needs neither shuffles nor
 * shared memory. */
template <bool ANY, typename T>
static __device__ __forceinline__ int factor_columns(
        T (&d)[TILE], struct tile_factor<T> *factor, int warps)
{
	const unsigned all = 0xffffffffu;
	const double least = ANY ? 0 : 0x1p-1000;
	const int lane = threadIdx.x & 31;
	T p = __shfl_sync(all, d[0], 0), v = __shfl_sync(all, d[1], 1);
	T u = __shfl_sync(all, d[0], 1), w = __shfl_sync(all, d[0], 2);
	int failed = TILE;
#pragma unroll
	for (int j = 0; j < TILE; j++) {
		if (!(p > T(least)))
			failed = min(failed, j);
		const T r = reciprocal_root<ANY>(p);
		const T l = d[j] * r, l1 = u * r, l2 = w * r;
		T *here = factor->columns + j * TILE;
		d[j] = l;
		here[lane] = l;
		if (lane == 0)
			factor->roots[j] = r;
		if (j % GROUP == GROUP - 1)
			barrier_arrive(COLUMNS + j / GROUP, warps);
		if (j + 1 < TILE) {
			p = minus_product(v, l1, l1);
			d[j + 1] = minus_product(d[j + 1], l, l1);
		}
		if (j + 2 < TILE) {
			d[j + 2] = minus_product(d[j + 2], l, l2);
			u = __shfl_sync(all, d[j + 1], j + 2);
			w = __shfl_sync(all, d[j + 1], (j + 3) % TILE);
			v = __shfl_sync(all, d[j + 2], j + 2);
		}
		if (j + 3 >= TILE)
			continue;
		__syncwarp();
#pragma unroll
		for (int q = (j + 3) / 4 * 4; q < TILE; q += 4) {
			const auto quad = load_quad(here + q);
#pragma unroll
			for (int e = 0; e < 4; e++)
				if (q + e >= j + 3)
					d[q + e] = minus_product(d[q + e], l, quad.x[e]);
		}
	}
	return failed;
}

/* The factor of a 32 x 32 tile, one row d a lane; entries above the diagonal are ignored.
 * diagonal: the lane's diagonal element. `warps`: this warp and those that solve with the tile.
 * Returns the first column whose pivot is not positive, or TILE. */
template <typename T>
static __device__ __forceinline__ int factor_tile(
        T (&d)[TILE], T diagonal, struct tile_factor<T> *factor, int warps)
{
	if constexpr (sizeof(T) == sizeof(double))
		if (__all_sync(0xffffffffu, diagonal >= 0x1p-500 && diagonal <= 0x1p1000))
			return factor_columns<false>(d, factor, warps);
	return factor_columns<true>(d, factor, warps);
}

/* Solves 32 rows x, one a lane, against the tile that another warp factorizes at the same time. */
template <typename T>
static __device__ __forceinline__ void solve_tile(
        T (&x)[TILE], const struct tile_factor<T> *factor, int warps)
{
#pragma unroll
	for (int j = 0; j < TILE; j++) {
		if (j % GROUP == 0)
			barrier_wait(COLUMNS + j / GROUP, warps);
		const T y = x[j] * factor->roots[j];
		x[j] = y;
#pragma unroll
		for (int q = (j + 1) / 4 * 4; q < TILE; q += 4) {
			const auto quad = load_quad(factor->columns + j * TILE + q);
#pragma unroll
			for (int e = 0; e < 4; e++)
				if (q + e > j)
					x[q + e] = minus_product(x[q + e], y, quad.x[e]);
		}
	}
}
