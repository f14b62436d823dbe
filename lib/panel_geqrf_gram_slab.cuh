/* SPDX-License-Identifier: MIT */
/* The way of a panel's rows between memory and the warps that work on them
 * (lib/panel_geqrf_gram.cu). */
#ifndef FATHOM_PANEL_GEQRF_GRAM_SLAB_CUH
#define FATHOM_PANEL_GEQRF_GRAM_SLAB_CUH

#include "gemm_copy.cuh"
#include "panel_geqrf_gram_tiles.cuh"

namespace
{

/* An m x n panel. */
struct panel_rows {
	float *a;
	int64_t lda, m;
	int n;
};

/* Rows of a warp in shared memory, [column][row], while the next are on their way: whole bursts of
 * memory, two octets. Pairs of rows and of columns are from different banks. */
enum { ROWS = 16, PITCH = ROWS + 8, STAGES = 2 };
typedef float slab[ORDER][PITCH];

__device__ __forceinline__ int64_t slabs_apart(void)
{
	return (int64_t)ROWS * WARPS * gridDim.x;
}

__device__ __forceinline__ slab *ring_of(double *memory)
{
	return (slab *)(memory + TILE_WORDS) + (int)threadIdx.x / 32 * STAGES;
}

/* The rows of a from `first` on, zeros where there are none. */
template <int BYTES>
__device__ __forceinline__ void copy_slab(const struct panel_rows &g, int64_t first, slab &to)
{
	const int words = BYTES / 4, along = ROWS / words, lane = (int)threadIdx.x % 32;
	const int row = lane % along * words, column = lane / along;
	const int there = (int)min(max(g.m - first - row, (int64_t)0), (int64_t)words) * 4;
	const float *from = there ? g.a + first + row + column * g.lda : g.a;
#pragma unroll 8
	for (int i = 0; i < ORDER; i += 32 / along, from += 32 / along * g.lda) {
		const int valid = column + i < g.n ? there : 0;
		copy_start<BYTES>(&to[column + i][row], valid ? from : g.a, valid);
	}
}

/* As a group of copies. */
__device__ __forceinline__ void start_slab(const struct panel_rows &g, int64_t first, slab &to)
{
	if (g.lda % 4 == 0 && (uint64_t)(g.a + first) % 16 == 0)
		copy_slab<16>(g, first, to);
	else
		copy_slab<4>(g, first, to);
	copy_commit();
}

/* A slab to the panel's rows from `first` on. */
__device__ __forceinline__ void store_slab(
        const struct panel_rows &g, const slab &rows, int64_t first)
{
	const int lane = (int)threadIdx.x % 32, row = lane % (ROWS / 2) * 2,
	          column = lane / (ROWS / 2), across = 32 / (ROWS / 2);
	const int64_t there = g.m - first - row;
	float *at = g.a + first + row + column * g.lda;
	if (g.lda % 2 == 0 && (uint64_t)(g.a + first) % 8 == 0 && there >= 2 && g.n == ORDER) {
#pragma unroll
		for (int i = 0; i < ORDER; i += across, at += across * g.lda)
			*(float2 *)at = *(const float2 *)&rows[column + i][row];
		return;
	}
	for (int i = column; i < g.n; i += across, at += across * g.lda) {
		if (there >= 1)
			at[0] = rows[i][row];
		if (there >= 2)
			at[1] = rows[i][row + 1];
	}
}

} // namespace

#endif
