/* SPDX-License-Identifier: MIT */
/* Rows below the top of columns right of an LU panel, less what is left of them in the panel times
 * the top. */
#ifndef FATHOM_LU_ROWS_CUH
#define FATHOM_LU_ROWS_CUH

#include "lu_top.cuh"

namespace
{

/* Rows that a block has in registers at once. */
const int SINGLE_AT_ONCE = 2 * THREADS, DOUBLE_AT_ONCE = 32 * WARPS;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

const int DEPTH = 64; /* columns of the panel that are multiplied with at once */

__device__ __forceinline__ void tile_multiply(double a, double b, double (&c)[2])
{
	asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
	        : "+d"(c[0]), "+d"(c[1])
	        : "d"(a), "d"(b));
}

/* What a thread has of the rows below, `AT_ONCE` rows of a block at a time: their elements of C and
 * DEPTH of the panel. Row numbers are from the block's first row. */
template <typename T> struct rows;

/* Lanes have two rows each and all columns. */
template <> struct rows<float> {
	static const int EACH = SINGLE_AT_ONCE / THREADS, AT_ONCE = SINGLE_AT_ONCE;
	float l[EACH][DEPTH], c[EACH][COLUMNS];

	static __device__ __forceinline__ int row_of(int base, int r)
	{
		const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
		return base + (EACH * warp + r) * 32 + lane;
	}

	__device__ __forceinline__ void load_panel(
	        const float *a, int64_t lda, int depth, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int k = 0; k < DEPTH; k++)
				l[r][k] = row < count && k < depth ? a[row + k * lda] : 0.0f;
		}
	}

	__device__ __forceinline__ void load(
	        const float *from, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				c[r][j] = row < count && j < n ? from[row + j * ld] : 0.0f;
		}
	}

	template <int WIDTH>
	__device__ __forceinline__ void move(
	        const float (&old)[COLUMNS][WIDTH], const int *moved, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r), from = row < count ? moved[row] : -1;
			if (from >= 0)
#pragma unroll
				for (int j = 0; j < COLUMNS; j++)
					c[r][j] = old[j][from];
		}
	}

	__device__ __forceinline__ void multiply(const float (*top)[COLUMNS], int base, int count)
	{
		if (row_of(base, 0) - (int)threadIdx.x % 32 >= count)
			return;
#pragma unroll
		for (int k = 0; k < DEPTH; k++)
#pragma unroll
			for (int q = 0; q < COLUMNS; q += 4) {
				const struct quad_float u = load_quad(&top[k][q]);
#pragma unroll
				for (int j = 0; j < 4; j++)
#pragma unroll
					for (int r = 0; r < EACH; r++)
						c[r][q + j] =
						        minus_product(c[r][q + j], l[r][k], u.x[j]);
			}
	}

	__device__ __forceinline__ void store(float *to, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				if (row < count && j < n)
					to[row + j * ld] = c[r][j];
		}
	}
};

/* Warps have tiles of 8 rows and all columns. */
template <> struct rows<double> {
	static const int EACH = DOUBLE_AT_ONCE / 8 / WARPS, AT_ONCE = DOUBLE_AT_ONCE,
	                 STEPS = DEPTH / 4;
	double l[EACH][STEPS], c[EACH][2];

	static __device__ __forceinline__ int tile_of(int base, int r)
	{
		return base + (EACH * ((int)threadIdx.x / 32) + r) * 8;
	}

	static __device__ __forceinline__ int row_of(int base, int r)
	{
		return tile_of(base, r) + (int)threadIdx.x % 32 / 4;
	}

	__device__ __forceinline__ void load_panel(
	        const double *a, int64_t lda, int depth, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int step = 0; step < STEPS; step++) {
				const int k = 4 * step + (int)threadIdx.x % 4;
				l[r][step] = row < count && k < depth ? a[row + k * lda] : 0.0;
			}
		}
	}

	__device__ __forceinline__ void load(
	        const double *from, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				const int row = row_of(base, r), j = (int)threadIdx.x % 4 * 2 + e;
				c[r][e] = row < count && j < n ? from[row + j * ld] : 0.0;
			}
	}

	template <int WIDTH>
	__device__ __forceinline__ void move(
	        const double (&old)[COLUMNS][WIDTH], const int *moved, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r), from = row < count ? moved[row] : -1;
			if (from >= 0)
#pragma unroll
				for (int e = 0; e < 2; e++)
					c[r][e] = old[(int)threadIdx.x % 4 * 2 + e][from];
		}
	}

	__device__ __forceinline__ void multiply(const double (*top)[COLUMNS], int base, int count)
	{
		const int k = (int)threadIdx.x % 4, j = (int)threadIdx.x % 32 / 4;
#pragma unroll
		for (int step = 0; step < STEPS; step++) {
			const double u = -top[4 * step + k][j];
#pragma unroll
			for (int r = 0; r < EACH; r++)
				if (tile_of(base, r) < count)
					tile_multiply(l[r][step], u, c[r]);
		}
	}

	__device__ __forceinline__ void store(double *to, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				const int row = row_of(base, r), j = (int)threadIdx.x % 4 * 2 + e;
				if (row < count && j < n)
					to[row + j * ld] = c[r][e];
			}
	}
};

#endif

} // namespace

#endif
