/* SPDX-License-Identifier: MIT */
/* Tiles of EDGE x EDGE in the order in which products read them, column by column, the same in
 * shared memory and in a workspace: whatever the matrix's triangle, alignment and edges, a tile
 * travels as one contiguous piece. Rows change places within a column, in groups of four, so that a
 * warp that reads along rows or along columns meets different banks. TEAM threads work on a tile.
 */
#ifndef FATHOM_TILE_IMAGE_CUH
#define FATHOM_TILE_IMAGE_CUH

#include "bulk_copy.cuh"
#include "gemm_mma.cuh"
#include "potrf_columns.cuh"

const int EDGE = 64, IMAGE = EDGE * EDGE, TEAM = 128, TEAM_BARRIER = 1;

/* The thread's number, anew: what is computed from it is not kept in registers from before. */
static __device__ __forceinline__ int thread_now(void)
{
	int thread;
	asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
	return thread;
}

static __device__ __forceinline__ void team_barrier(void)
{
	part_barrier<TEAM_BARRIER, TEAM>();
}

static __device__ __forceinline__ bool team_barrier_or(bool mine)
{
	return part_barrier_or<TEAM_BARRIER, TEAM>(mine);
}

/* Where an element is; four rows from a multiple of four on are neighbours. */
template <typename T> static __device__ __forceinline__ int image_at(int row, int column)
{
	return column * EDGE + (row ^ 4 * (column & (sizeof(T) == 4 ? 7 : 3)));
}

template <typename T> struct image_product;

/* A warp has all of a tile and a quarter of k, a lane 8 x 16 elements: the fewest reads of shared
 * memory for a multiplication. */
template <> struct image_product<float> {
	static const int DEPTH = 32; /* of a slice of the operands */
	float sum[16][8];
	int down, right;

	__device__ __forceinline__ image_product()
	{
		const int lane = thread_now() % 32;
		down = 4 * ((lane & 1) | (lane >> 1 & 2) | (lane >> 1 & 4));
		right = 4 * ((lane >> 1 & 1) | (lane >> 3 & 2));
	}

	/* At this place: earlier the registers belong to others. */
	__device__ __forceinline__ void clear(void)
	{
		float zero;
		asm volatile("mov.f32 %0, 0f00000000;" : "=f"(zero)::"memory");
#pragma unroll
		for (int j = 0; j < 16; j++)
#pragma unroll
			for (int i = 0; i < 8; i++)
				sum[j][i] = zero;
	}

	/* sum += a b^T for columns of two images from a multiple of eight on. */
	__device__ __forceinline__ void slice(const float *a, const float *b)
	{
		const int first = threadIdx.x / 32 * (DEPTH / 4) * EDGE;
#pragma unroll 4
		for (int k = 0; k < DEPTH / 4; k++) {
			quad_float x[2], y[4];
#pragma unroll
			for (int i = 0; i < 2; i++)
				x[i] = load_quad(a + first + image_at<float>(down + 32 * i, k));
#pragma unroll
			for (int j = 0; j < 4; j++)
				y[j] = load_quad(b + first + image_at<float>(right + 16 * j, k));
#pragma unroll
			for (int j = 0; j < 16; j++)
#pragma unroll
				for (int i = 0; i < 8; i++)
					sum[j][i] += x[i / 4].x[i % 4] * y[j / 4].x[j % 4];
		}
	}

	/* c - sum or, `set`, sum: the warps' sums in turn, each on another quarter of the columns,
	 * in a fixed order. */
	__device__ __forceinline__ void settle(float *c, bool set)
	{
		const int warp = threadIdx.x / 32;
#pragma unroll 1
		for (int turn = 0; turn < 4; turn++) {
#pragma unroll
			for (int q = 0; q < 4; q++)
				if (q == (warp + turn) % 4)
					settle_quarter(c, q, set ? 1 : -1, set && turn == 0);
			team_barrier();
		}
	}

	__device__ __forceinline__ void settle_quarter(float *c, int q, float sign, bool fresh)
	{
#pragma unroll
		for (int x = 0; x < 8; x++) {
			const int j = x / 2, i = x % 2;
			float *at = c + image_at<float>(down + 32 * i, right + 16 * q + j);
			const quad_float old = load_quad(at);
			float now[4];
#pragma unroll
			for (int e = 0; e < 4; e++)
				now[e] =
				        fmaf(sign, sum[4 * q + j][4 * i + e], fresh ? 0 : old.x[e]);
			store_quad(at, now);
		}
	}
};

/* On the tensor cores: a warp has a quarter of the tile (gemm_double.cuh says which lane has what).
 */
template <> struct image_product<double> {
	static const int DEPTH = 16;
	double sum[2][4][4];
	int row, column, g, t;

	__device__ __forceinline__ image_product()
	{
		const int thread = thread_now(), warp = thread / 32, lane = thread % 32;
		row = warp % 2 * 32;
		column = warp / 2 * 32;
		g = lane / 4;
		t = lane % 4;
	}

	__device__ __forceinline__ void clear(void)
	{
		double zero;
		asm volatile("mov.f64 %0, 0d0000000000000000;" : "=d"(zero)::"memory");
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int e = 0; e < 4; e++)
					sum[j][i][e] = zero;
	}

	__device__ __forceinline__ void slice(const double *a, const double *b)
	{
#pragma unroll
		for (int k = 0; k < DEPTH; k += 4) {
			double left[2][2], right[4][1];
#pragma unroll
			for (int p = 0; p < 2; p++) {
				const double2 v = *(
				        const double2 *)(a + image_at<double>(
				                                     row + 16 * p + 2 * g, k + t));
				right[2 * p][0] = v.x;
				right[2 * p + 1][0] = v.y;
			}
#pragma unroll
			for (int j = 0; j < 2; j++) {
				const double2 v =
				        *(const double2 *)(b +
				                           image_at<double>(
				                                   column + 16 * j + 2 * g, k + t));
				left[j][0] = v.x;
				left[j][1] = v.y;
			}
#pragma unroll
			for (int j = 0; j < 2; j++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					mma_double(sum[j][i], left[j], right[i]);
		}
	}

	__device__ __forceinline__ void settle(double *c, bool set)
	{
#pragma unroll
		for (int x = 0; x < 8; x++) {
			const int p = x % 2, h = x / 2 % 2, j = x / 4;
			double *at = c + image_at<double>(
			                         row + 16 * p + 4 * t, column + 16 * j + 2 * g + h);
			quad_double old = load_quad(at);
			double now[4];
#pragma unroll
			for (int e = 0; e < 4; e++) {
				const double mine = sum[j][2 * p + e % 2][2 * h + e / 2];
				now[e] = set ? mine : old.x[e] - mine;
			}
			store_quad(at, now);
		}
		team_barrier();
	}
};

/* The copy of an image to the workspace by `threads` threads, in whole lines. */
template <typename T>
static __device__ __forceinline__ void image_store(T *to, const T *from, int thread, int threads)
{
#pragma unroll 4
	for (int i = thread; i < IMAGE * (int)sizeof(T) / 16; i += threads)
		((uint4 *)to)[i] = ((const uint4 *)from)[i];
}

/* Calls f(row, column) for a tile's elements that one of `warps` warps has, neighbours being
 * neighbours in memory. */
template <bool upper, typename F>
static __device__ __forceinline__ void image_each(int warp, int warps, const F &f)
{
	const int lane = thread_now() % 32;
#pragma unroll 4
	for (int x = warp; x < IMAGE / 32; x += warps)
		if (upper)
			f(lane / 8 + x / 8 * 4, lane % 8 + x % 8 * 8);
		else
			f(lane + x % 2 * 32, x / 2);
}

/* ---- the diagonal tile ---- */

/* Half of a 32 x 32 product for each warp: d11 -= l10 l10^T by the first two, and -x00 l10^T, which
 * takes the place of x00, by the others. */
template <typename T> static __device__ __forceinline__ void update_second_half(T *d)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const bool corner = warp < 2;
	const int row = (corner ? TILE : 0) + lane / 4 * 4, shift = corner ? 0 : TILE;
	const int column = TILE + warp % 2 * 16 + lane % 4 * 4;
	T sum[4][4] = {};
#pragma unroll 4
	for (int k = 0; k < TILE; k++) {
		const auto x = load_quad(d + image_at<T>(row, shift + k));
		const auto y = load_quad(d + image_at<T>(column, k));
#pragma unroll
		for (int j = 0; j < 4; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				sum[j][i] += x.x[i] * y.x[j];
	}
	team_barrier();
#pragma unroll
	for (int j = 0; j < 4; j++) {
		T *at = d + image_at<T>(row, column + j), now[4];
		const auto old = load_quad(at);
#pragma unroll
		for (int i = 0; i < 4; i++)
			now[i] = (corner ? old.x[i] : T(0)) - sum[j][i];
		store_quad(at, now);
	}
	team_barrier();
}

template <typename T>
static __device__ __forceinline__ void load_image_row(const T *s, int row, int column, T (&x)[TILE])
{
#pragma unroll
	for (int k = 0; k < TILE; k++)
		x[k] = s[image_at<T>(row, column + k)];
}

/* Grows with the magnitude of x, and is largest for a NaN. */
static __device__ __forceinline__ int magnitude(float x)
{
	return __float_as_int(x) & 0x7fffffff;
}

static __device__ __forceinline__ int magnitude(double x)
{
	return __double2hiint(x) & 0x7fffffff;
}

static __device__ __forceinline__ double magnitude_product(int a, int b, float)
{
	return (double)__int_as_float(a) * (double)__int_as_float(b);
}

static __device__ __forceinline__ double magnitude_product(int a, int b, double)
{
	return __hiloint2double(a, 0) * __hiloint2double(b, 0);
}

static __device__ __forceinline__ int warp_largest(int x)
{
#if __CUDA_ARCH__ >= 800
	x = (int)__reduce_max_sync(0xffffffffu, (unsigned)x);
#endif
	return x;
}

/* The factor of a 32 x 32 tile, of which each lane has a row, d; and 32 rows x solved against it, a
 * row a lane, as factor_tile does it; but the columns that are left move to the front, so that all
 * columns go through the same few instructions: of a kernel as long as this one instructions would
 * come from far away. done(j, l, y) takes each column of both. column is the warp's memory for two
 * columns, the pivot's row first. Returns the first column whose pivot is not positive, TILE when
 * there is none. */
template <typename T, typename F>
static __device__ __forceinline__ int factor_rows(
        T (&d)[TILE], T (&x)[TILE], T *column, const F &done)
{
	const unsigned all = 0xffffffffu;
	const int lane = threadIdx.x % 32;
	T p = __shfl_sync(all, d[0], 0), v = __shfl_sync(all, d[1], 1);
	T u = __shfl_sync(all, d[0], 1), w = __shfl_sync(all, d[0], 2);
	int failed = TILE;
#pragma unroll 1
	for (int j = 0; j < TILE; j++) {
		if (!(p > T(0)))
			failed = min(failed, j);
		const T r = reciprocal_root(p);
		const T l = d[0] * r, y = x[0] * r, l1 = u * r, l2 = w * r;
		T *here = column + j % 2 * TILE;
		here[(lane - j) & (TILE - 1)] = l;
		p = minus_product(v, l1, l1);
		d[0] = minus_product(d[1], l, l1);
		x[0] = minus_product(x[1], y, l1);
		d[1] = minus_product(d[2], l, l2);
		x[1] = minus_product(x[2], y, l2);
		u = __shfl_sync(all, d[0], (j + 2) % TILE);
		w = __shfl_sync(all, d[0], (j + 3) % TILE);
		v = __shfl_sync(all, d[1], (j + 2) % TILE);
		__syncwarp();
#pragma unroll
		for (int q = 0; q < TILE; q += 4) {
			const auto quad = load_quad(here + q);
#pragma unroll
			for (int e = 0; e < 4; e++)
				if (q + e >= 3) {
					d[q + e - 1] = minus_product(d[q + e], l, quad.x[e]);
					x[q + e - 1] = minus_product(x[q + e], y, quad.x[e]);
				}
		}
		done(j, l, y);
	}
	return failed;
}

/* The factor of the tile d, of which what is above the diagonal is lost, by the team; and the image
 * whose columns are the rows of the factor's inverse's transpose: they are solved for on the way,
 * as any rows below would be. The image's part for rows 32.. and columns ..31 is 0 and stays.
 * memory holds 4 TILE elements. largest: magnitudes of the factor, and two of the inverse's.
 * Returns the first column whose pivot is not positive, EDGE when there is none; a barrier has to
 * follow. */
template <typename T>
static __device__ __forceinline__ int factor_diagonal(T *d, T *inverse, T *memory, int *largest)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	int failed = EDGE, factor_most = 0, inverse_most = 0;
#pragma unroll 1
	for (int half = 0; half < 2; half++) {
		const int first = half * TILE;
		T y[TILE], x[TILE];
		if (half)
			update_second_half(d);
		/* the other warps, too: else these registers were taken all the time */
		load_image_row(d, first + lane, first, y);
		load_image_row(d, half ? lane : TILE + lane, first, x);
#pragma unroll
		for (int k = 0; k < TILE; k++)
			x[k] = half != warp ? T(k == lane) : x[k];
		team_barrier();
		if (warp < 2) {
			const bool below = !half && !warp; /* x is of the factor */
			const int row = half && !warp ? TILE + lane : lane;
			const int column = factor_rows(
			        y, x, memory + warp * 2 * TILE, [&](int j, T l, T solved) {
				        if (warp == 0) {
					        d[image_at<T>(first + lane, first + j)] = l;
					        if (lane >= j)
						        factor_most =
						                max(factor_most, magnitude(l));
				        }
				        if (!half)
					        d[image_at<T>(warp ? lane : TILE + lane,
					                warp ? TILE + j : j)] = solved;
				        if (!below)
					        inverse[image_at<T>(first + j, row)] = solved;
				        int &most = below ? factor_most : inverse_most;
				        most = max(most, magnitude(solved));
			        });
			if (column < TILE)
				failed = min(failed, first + column);
		}
		team_barrier();
	}
	if (warp < 2) {
		factor_most = warp_largest(factor_most);
		inverse_most = warp_largest(inverse_most);
		if (warp == 0)
			largest[0] = factor_most;
		largest[1 + warp] = inverse_most;
	}
	return failed;
}

#endif
