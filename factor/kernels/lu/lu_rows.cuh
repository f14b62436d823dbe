/* SPDX-License-Identifier: MIT */
/* Rows below the top of columns right of an LU panel, less what is left of them in the panel times
 * the top. */
#ifndef FATHOM_LU_ROWS_CUH
#define FATHOM_LU_ROWS_CUH

#include "lib/device/cluster.cuh"
#include "lu_solve.cuh"

namespace
{

const int WIDTH = BLOCK_LU_COLUMNS_MAX;

/* Rows that a block works on at once: of the panel's elements in them, which are in shared memory,
 * two blocks of threads find room on a multiprocessor. Columns of it are so many elements apart
 * that no bank conflicts come up. */
template <typename T> constexpr int AT_ONCE = 1024 / (int)sizeof(T);
template <typename T> constexpr int PITCH = AT_ONCE<T> + 4;

/* Starts the copy of the panel's part left of rows `base` and up. */
template <typename T>
__device__ __forceinline__ void fetch_slab(
        const struct columns<T> &g, const T *a, int base, int count, T *slab)
{
	fetch_panel<WIDTH, AT_ONCE<T>, PITCH<T>>(g, a + base, count - base, slab);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* The same copies by the copy engine, which take nothing of the path by which threads read and
 * write memory. A warp starts them one by one, so each has a part of the columns. */
__device__ __forceinline__ bool engine_takes(const void *a, int64_t lda, int64_t word, int k)
{
	return k == WIDTH && ((int64_t)(uintptr_t)a | lda * word) % 16 == 0;
}

/* Rows, rounded up to 16 bytes: what lies between columns may be read. Where a round before has
 * been read by others, behind a barrier of the block. full: an mbarrier of one arrival. */
template <int PITCH, typename T>
__device__ __forceinline__ void engine_fetch(
        const T *from, int64_t lda, int rows, T *to, uint64_t *full)
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

/* Ends: copies arrive, or end the kernel by a fault. */
__device__ __forceinline__ void engine_wait(const uint64_t *full, uint32_t parity)
{
	while (!mailbox_is_full(shared_address(full), parity))
		;
}

__device__ __forceinline__ void tile_multiply(double a, double b, double (&c)[2])
{
	asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
	        : "+d"(c[0]), "+d"(c[1])
	        : "d"(a), "d"(b));
}

/* A thread's elements of the rows: EACH rows and LONG columns. */
template <typename T> struct share;

/* A warp has 64 rows and half of the columns; in the loop over k all is fed by one read of four
 * elements of the top, and one of each row. */
template <> struct share<float> {
	static const int EACH = 2, LONG = COLUMNS / 2;
	float c[EACH][LONG];

	static __device__ __forceinline__ int row_of(int r)
	{
		return (int)threadIdx.x / 64 * 64 + 32 * r + (int)threadIdx.x % 32;
	}

	static __device__ __forceinline__ int column_of(int e)
	{
		return (int)threadIdx.x / 32 % 2 * LONG + e;
	}

	/* Whether a warp has any of so many rows. */
	static __device__ __forceinline__ bool works(int rows)
	{
		return (int)threadIdx.x / 64 * 64 < rows;
	}

	__device__ __forceinline__ void multiply(const float *slab, const float (*top)[COLUMNS])
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

	static __device__ __forceinline__ bool works(int rows)
	{
		return (int)threadIdx.x / 32 * 16 < rows;
	}

	static __device__ __forceinline__ int row_of(int r)
	{
		return (int)threadIdx.x / 32 * 16 + 8 * r + (int)threadIdx.x % 32 / 4;
	}

	static __device__ __forceinline__ int column_of(int e)
	{
		return (int)threadIdx.x % 4 * 2 + e;
	}

	__device__ __forceinline__ void multiply(const double *slab, const double (*top)[COLUMNS])
	{
		const int i = (int)threadIdx.x % 4, j = (int)threadIdx.x % 32 / 4;
#pragma unroll 4
		for (int k = i; k < WIDTH; k += 4) {
			const double u = -top[k][j];
#pragma unroll
			for (int r = 0; r < EACH; r++)
				tile_multiply(slab[k * PITCH<double> + row_of(r)], u, c[r]);
		}
	}
};

/* c: the block's rows `base` and up, of which there are `count`, of n columns. */
template <typename T>
__device__ __forceinline__ void load_share(
        struct share<T> &s, const T *c, int64_t ldc, int n, int base, int count)
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
__device__ __forceinline__ void take_moved(
        struct share<T> &s, const T (&old)[COLUMNS][WIDTH], const int *moved, int base, int count)
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
__device__ __forceinline__ void store_share(
        const struct share<T> &s, T *c, int64_t ldc, int n, int base, int count)
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

#endif
