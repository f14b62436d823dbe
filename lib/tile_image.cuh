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

/* c - sum or, SET, sum; of the team's second to fourth warp's share of sums in single precision
 * c + sum. */
enum settle { SUBTRACT, SET };

template <typename T> struct image_product;

/* A warp has all of a tile and a quarter of k, a lane 8 x 16 elements: the fewest reads of shared
 * memory for a multiplication. */
template <> struct image_product<float> {
	static const int DEPTH = 32; /* of a slice of the operands */
	float sum[16][8];
	int down, right;

	__device__ __forceinline__ image_product()
	{
		const int lane = threadIdx.x % 32;
		down = 4 * ((lane & 1) | (lane >> 1 & 2) | (lane >> 1 & 4));
		right = 4 * ((lane >> 1 & 1) | (lane >> 3 & 2));
	}

	__device__ __forceinline__ void clear(void)
	{
#pragma unroll
		for (int j = 0; j < 16; j++)
#pragma unroll
			for (int i = 0; i < 8; i++)
				sum[j][i] = 0;
	}

	/* sum += a b^T for columns of two images from a multiple of eight on. */
	__device__ __forceinline__ void slice(const float *a, const float *b)
	{
		const int first = threadIdx.x / 32 * (DEPTH / 4) * EDGE;
#pragma unroll
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

	/* The warps' sums in turn, each on another quarter of the columns, in a fixed order. */
	template <enum settle HOW> __device__ __forceinline__ void settle(float *c)
	{
		const int warp = threadIdx.x / 32;
#pragma unroll 1
		for (int turn = 0; turn < 4; turn++) {
#pragma unroll
			for (int q = 0; q < 4; q++)
				if (q == (warp + turn) % 4)
					settle_quarter<HOW>(c, q, turn);
			team_barrier();
		}
	}

	template <enum settle HOW>
	__device__ __forceinline__ void settle_quarter(float *c, int q, int turn)
	{
#pragma unroll
		for (int x = 0; x < 8; x++) {
			const int j = x / 2, i = x % 2;
			float *at = c + image_at<float>(down + 32 * i, right + 16 * q + j);
			quad_float old = load_quad(at);
			float now[4];
#pragma unroll
			for (int e = 0; e < 4; e++) {
				const float mine = sum[4 * q + j][4 * i + e];
				now[e] = HOW == SUBTRACT ? old.x[e] - mine
				         : turn == 0     ? mine
				                         : old.x[e] + mine;
			}
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
		const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
		row = warp % 2 * 32;
		column = warp / 2 * 32;
		g = lane / 4;
		t = lane % 4;
	}

	__device__ __forceinline__ void clear(void)
	{
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int e = 0; e < 4; e++)
					sum[j][i][e] = 0;
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

	template <enum settle HOW> __device__ __forceinline__ void settle(double *c)
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
				now[e] = HOW == SET ? mine : old.x[e] - mine;
			}
			store_quad(at, now);
		}
		team_barrier();
	}
};

/* The team's copy of an image to the workspace, in whole lines. */
template <typename T> static __device__ __forceinline__ void image_store(T *to, const T *from)
{
#pragma unroll
	for (int i = 0; i < IMAGE * (int)sizeof(T) / 16 / TEAM; i++)
		((uint4 *)to)[i * TEAM + threadIdx.x] =
		        ((const uint4 *)from)[i * TEAM + threadIdx.x];
}

/* Calls f(row, column) for this thread's share of a tile, neighbours being neighbours in memory. */
template <bool upper, typename F> static __device__ __forceinline__ void image_each(const F &f)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 8
	for (int x = 0; x < IMAGE / TEAM; x++)
		if (upper)
			f(lane / 8 + 4 * warp + x / 8 * 16, lane % 8 + x % 8 * 8);
		else
			f(lane + x % 2 * 32, warp + x / 2 * 4);
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
#pragma unroll 8
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

template <typename T>
static __device__ __forceinline__ void store_image_row(
        T *s, int row, int column, const T (&x)[TILE])
{
#pragma unroll
	for (int k = 0; k < TILE; k++)
		s[image_at<T>(row, column + k)] = x[k];
}

/* The rows of the inverse's transpose are its image's columns. */
template <typename T>
static __device__ __forceinline__ void store_inverse(
        T *inverse, int row, int column, const T (&x)[TILE])
{
#pragma unroll
	for (int k = 0; k < TILE; k += 4)
		store_quad(inverse + image_at<T>(column + k, row), x + k);
}

/* The factor of the tile d, of which what is above the diagonal is lost, by the team; and the image
 * whose columns are the rows of the factor's inverse's transpose: they are solved for on the way,
 * as any rows below would be. The image's part for rows 32.. and columns ..31 is 0 and stays.
 * memory holds 4 TILE elements. Returns the first column whose pivot is not positive, EDGE when
 * there is none. */
template <typename T>
static __device__ __forceinline__ int factor_diagonal(T *d, T *inverse, T *memory)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	T y[TILE], x[TILE];
	int failed = EDGE;
#pragma unroll 1
	for (int half = 0; half < 2; half++) {
		const int first = half * TILE;
		if (half)
			update_second_half(d);
		if (warp < 2) {
			load_image_row(d, first + lane, first, y);
			if (half == warp)
				load_image_row(d, half ? lane : TILE + lane, first, x);
			else
#pragma unroll
				for (int k = 0; k < TILE; k++)
					x[k] = T(k == lane);
		}
		team_barrier();
		if (warp < 2) {
			const int column = factor_tile(y, x, memory + warp * 2 * TILE);
			if (column < TILE)
				failed = min(failed, first + column);
			if (warp == 0)
				store_image_row(d, first + lane, first, y);
			if (half == 0 && warp == 0)
				store_image_row(d, TILE + lane, 0, x);
			else if (half == 0)
				store_image_row(d, lane, TILE, x);
			if (half || warp)
				store_inverse(
				        inverse, half && !warp ? TILE + lane : lane, first, x);
		}
		team_barrier();
	}
	return failed;
}

#endif
