/* SPDX-License-Identifier: MIT */
/* Update of the rows below the top in columns right of an LU panel: minus the panel's rows times
 * the top. */
#pragma once

#include "lib/device/cluster.cuh"
#include "factor/kernels/gemm/gemm_mma.cuh"
#include "lu_solve.cuh"

namespace
{

const int WIDTH = BLOCK_LU_COLUMNS_MAX;

/* Rows that a block processes at once. The panel's elements in these rows fit twice in a
 * multiprocessor's shared memory. PITCH avoids bank conflicts. */
template <typename T> constexpr int AT_ONCE = 1024 / (int)sizeof(T);
template <typename T> constexpr int PITCH = AT_ONCE<T> + 4;

/* Starts the copy of the panel's part left of rows `base` and up. */
template <typename T>
DEVICE void fetch_slab(const columns<T> &g, const T *a, int base, int count, T *slab)
{
	fetch_panel<WIDTH, AT_ONCE<T>, PITCH<T>>(g, a + base, count - base, slab);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older devices */

/* The same copies by the copy engine, which leaves the threads' memory path free. A warp starts
 * such copies one by one, so every warp takes a part of the columns. */
DEVICE bool engine_takes(const void *a, int64_t lda, int64_t word, int k)
{
	return k == WIDTH && ((int64_t)(uintptr_t)a | lda * word) % 16 == 0;
}

/* Copies rows, rounded up to 16 bytes: the gap between columns may be read. A barrier of the block
 * must separate this from reads of an earlier round. full: an mbarrier with one arrival. */
template <int PITCH, typename T>
DEVICE void engine_fetch(const T *from, int64_t lda, int rows, T *to, uint64_t *full)
{
	const int EACH = WIDTH / WARPS, lane = (int)threadIdx.x % 32;
	const int column = (int)threadIdx.x / 32 * EACH + lane;
	const uint32_t bytes = (uint32_t)(rows * (int)sizeof(T) + 15) / 16 * 16;
	if (threadIdx.x == 0)
		arrivals_expect(shared_address(full), WIDTH * bytes);
	if (lane < EACH && bytes > 0)
		asm volatile("fence.proxy.async.shared::cta;\n\t"
		             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		             "[%0], [%1], %2, [%3];" ::"r"(shared_address(to + column * PITCH)),
		             "l"(from + column * lda), "r"(bytes), "r"(shared_address(full))
		             : "memory");
}

/* Always ends: copies arrive, or a fault ends the kernel. */
DEVICE void engine_wait(const uint64_t *full, uint32_t parity)
{
	while (!mailbox_is_full(shared_address(full), parity))
		;
}

/* A thread's elements of the rows: EACH rows and LONG columns. */
template <typename T> struct share;

/* A warp has 64 rows and half of the columns. The loop over k reads four elements of the top at
 * once, and one of each row. */
template <> struct share<float> {
	static const int EACH = 2, LONG = COLUMNS / 2;
	float c[EACH][LONG];

	static DEVICE int row_of(int r)
	{
		return (int)threadIdx.x / 64 * 64 + 32 * r + (int)threadIdx.x % 32;
	}

	static DEVICE int column_of(int e)
	{
		return (int)threadIdx.x / 32 % 2 * LONG + e;
	}

	/* Whether the warp has any of that many rows. */
	static DEVICE bool works(int rows)
	{
		return (int)threadIdx.x / 64 * 64 < rows;
	}

	DEVICE void multiply(const float *slab, const float (*top)[COLUMNS])
	{
		const float *l = slab + row_of(0), *u = top[0] + column_of(0);
#pragma unroll 8
		for (int k = 0; k < WIDTH; k++) {
			const struct quad_float x = load_quad(u + k * COLUMNS);
#pragma unroll
			for (int r = 0; r < EACH; r++)
#pragma unroll
				for (int e = 0; e < LONG; e++)
					c[r][e] = minus_product(
					        c[r][e], l[k * PITCH<float> + 32 * r], x.x[e]);
		}
	}
};

/* A warp has two tiles of 8 rows and all columns. */
template <> struct share<double> {
	static const int EACH = 2, LONG = 2;
	double c[EACH][LONG];

	static DEVICE bool works(int rows)
	{
		return (int)threadIdx.x / 32 * 16 < rows;
	}

	static DEVICE int row_of(int r)
	{
		return (int)threadIdx.x / 32 * 16 + 8 * r + (int)threadIdx.x % 32 / 4;
	}

	static DEVICE int column_of(int e)
	{
		return (int)threadIdx.x % 4 * 2 + e;
	}

	DEVICE void multiply(const double *slab, const double (*top)[COLUMNS])
	{
		const int i = (int)threadIdx.x % 4, j = (int)threadIdx.x % 32 / 4;
#pragma unroll 4
		for (int k = i; k < WIDTH; k += 4) {
			const double u = -top[k][j];
#pragma unroll
			for (int r = 0; r < EACH; r++)
				mma_8x8(c[r][0], c[r][1], slab[k * PITCH<double> + row_of(r)], u);
		}
	}
};

/* c: rows `base` and up of the block, `count` rows in all, n columns. */
template <typename T>
DEVICE void load_share(share<T> &s, const T *c, int64_t ldc, int n, int base, int count)
{
#pragma unroll
	for (int r = 0; r < s.EACH; r++)
#pragma unroll
		for (int e = 0; e < s.LONG; e++) {
			const int row = base + s.row_of(r), j = s.column_of(e);
			s.c[r][e] = row < count && j < n ? c[row + j * ldc] : T(0);
		}
}

template <typename T>
DEVICE void take_moved(
        share<T> &s, const T (&old)[COLUMNS][WIDTH], const int *moved, int base, int count)
{
#pragma unroll
	for (int r = 0; r < s.EACH; r++) {
		const int row = base + s.row_of(r), from = row < count ? moved[row] : -1;
		if (from >= 0)
#pragma unroll
			for (int e = 0; e < s.LONG; e++)
				s.c[r][e] = old[s.column_of(e)][from];
	}
}

template <typename T>
DEVICE void store_share(const share<T> &s, T *c, int64_t ldc, int n, int base, int count)
{
#pragma unroll
	for (int r = 0; r < s.EACH; r++)
#pragma unroll
		for (int e = 0; e < s.LONG; e++) {
			const int row = base + s.row_of(r), j = s.column_of(e);
			if (row < count && j < n)
				c[row + j * ldc] = s.c[r][e];
		}
}

#endif

} // namespace
