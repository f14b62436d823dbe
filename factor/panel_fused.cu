/* SPDX-License-Identifier: MIT */
/* The fused LU panel: two kernels a column. `update` divides column j by the pivot, applies the rank-1 update to the columns right
 * of it and searches column j + 1 in the same sweep; `pivot`, one block, finishes the search and swaps the two rows.
 *
 * Cost of column j: two dependent launches, 2(m-j-1)(n-j) words through L2 or DRAM, and three dependent accesses. */
#include "../lib/base.h"
#include "../lib/exchange.cuh"
#include "../lib/shared_update.cuh"
#include "panel_kernels.h"
#include "pivot_key.cuh"

namespace
{

const int ROWS = 32;       /* rows a block takes at a time: one per lane */
const int WARPS = 8;       /* columns it takes at a time: one per warp */
const int MAX_PARTS = 2048; /* blocks of the update, each with one candidate */

struct part {
	uint64_t key;
	int64_t row;
};

struct work {
	int64_t parts;
	struct part part[MAX_PARTS];
};

int update_blocks(int64_t rows)
{
	int64_t blocks = (rows + ROWS - 1) / ROWS;
	return (int)(blocks < 1 ? 1 : blocks > MAX_PARTS ? MAX_PARTS : blocks);
}

/* Larger key, then lower row. */
__device__ bool better(const struct part &a, const struct part &b)
{
	return a.key > b.key || (a.key == b.key && a.row < b.row);
}

__device__ struct part warp_best(struct part p)
{
	for (int step = 16; step; step /= 2) {
		struct part other;
		other.key = __shfl_xor_sync(0xffffffffu, p.key, step);
		other.row = __shfl_xor_sync(0xffffffffu, p.row, step);
		if (better(other, p))
			p = other;
	}
	return p;
}

/* Columns j and up of rows j+1 and up; j = -1 only searches column 0. */
template <typename T>
__global__ void update_kernel(T *a, int64_t lda, int64_t m, int64_t n, int64_t j, struct work *work)
{
	const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
	struct part best = {0, m};
	const T *pivot_row = j >= 0 ? a + j : a;
	struct pivot_divisor<T> divisor = {T(1), T(1)};
	if (j >= 0)
		divisor = pivot_divide_by(a[j + j * lda]);

	for (int64_t first = j + 1 + (int64_t)blockIdx.x * ROWS; first < m;
		first += (int64_t)gridDim.x * ROWS) {
		const int64_t row = first + lane;
		const bool active = row < m;
		T l = T(0);
		if (j >= 0 && active)
			l = pivot_divide(a[row + j * lda], divisor);
		__syncthreads(); /* every warp has read column j before it is overwritten */
		if (j >= 0 && active && warp == 0)
			a[row + j * lda] = l;
		if (active)
#pragma unroll 4
			for (int64_t c = j + 1 + warp; c < n; c += WARPS) {
				T value = a[row + c * lda];
				if (j >= 0) {
					value = minus_product(value, l, pivot_row[c * lda]);
					a[row + c * lda] = value;
				}
				if (c == j + 1) {
					struct part here = {pivot_key(value), row};
					if (better(here, best))
						best = here;
				}
			}
	}
	if (warp == 0) {
		best = warp_best(best);
		if (lane == 0) {
			work->part[blockIdx.x] = best;
			if (blockIdx.x == 0)
				work->parts = gridDim.x;
		}
	}
}

template <typename T>
__global__ void pivot_kernel(
	T *a, int64_t lda, int64_t n, int64_t j, const struct work *work, int *pivots)
{
	__shared__ struct part warp_part[WARPS];
	__shared__ int64_t pivot;
	const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
	struct part best = work->part[0];
	for (int64_t i = threadIdx.x; i < work->parts; i += blockDim.x)
		if (better(work->part[i], best))
			best = work->part[i];
	best = warp_best(best);
	if (lane == 0)
		warp_part[warp] = best;
	__syncthreads();
	if (warp == 0) {
		best = warp_best(warp_part[lane % WARPS]);
		if (lane == 0) {
			pivot = best.row;
			pivots[j] = (int)best.row + 1;
			if (j == 0)
				pivots[n] = 0;
			if (best.key == 1 && pivots[n] == 0)
				pivots[n] = (int)j + 1;
		}
	}
	__syncthreads();
	if (pivot == j)
		return;
	for (int64_t c = threadIdx.x; c < n; c += blockDim.x) {
		T upper = a[j + c * lda], lower = a[pivot + c * lda];
		a[j + c * lda] = lower;
		a[pivot + c * lda] = upper;
	}
}

template <typename T> __global__ void scale_by_kernel(const T *pivot, T *x, int64_t m)
{
	const struct pivot_divisor<T> divisor = pivot_divide_by(*pivot);
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < m; i += step)
		x[i] = pivot_divide(x[i], divisor);
}

template <typename T>
void update(void *a, int64_t lda, int64_t m, int64_t n, int64_t j, void *w, cudaStream_t stream)
{
	update_kernel<T><<<update_blocks(m - j - 1), ROWS * WARPS, 0, stream>>>(
		(T *)a, lda, m, n, j, (struct work *)w);
}

} // namespace

extern "C" int64_t panel_fused_work(int64_t)
{
	return (int64_t)sizeof(struct work);
}

extern "C" int panel_fused_begin(
	enum precision precision, const void *a, int64_t m, void *work, void *stream)
{
	if (precision == SINGLE)
		update<float>((void *)a, m, m, 1, -1, work, (cudaStream_t)stream);
	else
		update<double>((void *)a, m, m, 1, -1, work, (cudaStream_t)stream);
	return (int)cudaGetLastError();
}

extern "C" int panel_fused_update(enum precision precision, void *a, int64_t lda, int64_t m,
	int64_t n, int64_t j, void *work, void *stream)
{
	if (precision == SINGLE)
		update<float>(a, lda, m, n, j, work, (cudaStream_t)stream);
	else
		update<double>(a, lda, m, n, j, work, (cudaStream_t)stream);
	return (int)cudaGetLastError();
}

extern "C" int panel_fused_pivot(enum precision precision, void *a, int64_t lda, int64_t, int64_t n,
	int64_t j, void *w, int *pivots, void *stream)
{
	const struct work *work = (const struct work *)w;
	if (precision == SINGLE)
		pivot_kernel<<<1, 32 * WARPS, 0, (cudaStream_t)stream>>>(
			(float *)a, lda, n, j, work, pivots);
	else
		pivot_kernel<<<1, 32 * WARPS, 0, (cudaStream_t)stream>>>(
			(double *)a, lda, n, j, work, pivots);
	return (int)cudaGetLastError();
}

extern "C" int panel_scale_by(
	enum precision precision, const void *pivot, void *x, int64_t m, void *stream)
{
	if (m < 1)
		return (int)cudaSuccess;
	int64_t blocks = (m + 255) / 256;
	unsigned grid = (unsigned)(blocks > 1024 ? 1024 : blocks);
	if (precision == SINGLE)
		scale_by_kernel<<<grid, 256, 0, (cudaStream_t)stream>>>(
			(const float *)pivot, (float *)x, m);
	else
		scale_by_kernel<<<grid, 256, 0, (cudaStream_t)stream>>>(
			(const double *)pivot, (double *)x, m);
	return (int)cudaGetLastError();
}
