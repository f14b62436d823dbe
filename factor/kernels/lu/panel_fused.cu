/* SPDX-License-Identifier: MIT */
/* The fused LU panel: two kernels per column. `update` divides column j by the pivot, applies the
 * rank-1 update to the columns right of it and searches column j + 1 in the same sweep. `pivot`,
 * one block, finishes the search and swaps the two rows.
 *
 * Cost of column j: two dependent launches, 2(m-j-1)(n-j) words through L2 or DRAM, and three
 * dependent accesses. */
#include "lib/base/base.h"
#include "lib/device/reduce.cuh"
#include "factor/kernels/blocks/shared_update.cuh"
#include "panel_kernels.h"
#include "pivot_divide.cuh"

namespace
{

const int ROWS = 32;        /* rows per block at a time, one per lane */
const int WARPS = 8;        /* columns at a time, one per warp, */
const int BATCH = 8;        /* and this multiple in flight */
const int MAX_PARTS = 2048; /* blocks of the update, one candidate each */

typedef extreme<uint64_t> part;

struct work {
	part parts[MAX_PARTS];
};

int update_blocks(int64_t rows)
{
	int64_t blocks = (rows + ROWS - 1) / ROWS;
	return (int)(blocks < 1 ? 1 : blocks > MAX_PARTS ? MAX_PARTS : blocks);
}

/* Updates columns j and up in rows j+1 and up; j = -1 only searches column 0. A tile loads BATCH
 * columns per warp before it waits for any, so a column of the panel costs one access time, not one
 * per updated column. */
template <typename T>
__global__ void update_kernel(T *a, int64_t lda, int m, int n, int j, struct work *work)
{
	const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
	const bool updates = j >= 0;
	const T *column = a + (updates ? j : 0) * lda;
	const T pivot = updates ? column[j] : T(1);
	part best = {0, NO_INDEX};

	for (int first = j + 1 + blockIdx.x * ROWS; first < m; first += gridDim.x * ROWS) {
		const int row = first + lane;
		const bool active = row < m;
		const T head = updates && active ? column[row] : T(0);
		T l = T(0);
		for (int c0 = j + 1; c0 < n || c0 == j + 1; c0 += WARPS * BATCH) {
			T value[BATCH], p[BATCH];
			T *from = a + (c0 + warp) * lda;
#pragma unroll
			for (int i = 0; i < BATCH; i++) {
				const bool inside = c0 + warp + i * WARPS < n;
				value[i] = active && inside ? from[row] : T(0);
				p[i] = updates && inside ? from[j] : T(0);
				from += WARPS * lda;
			}
			if (updates && c0 == j + 1) {
				l = pivot_divide(head, pivot_divide_by(pivot));
				__syncthreads(); /* all warps have read column j before it is
				                    overwritten */
				if (active && warp == 0)
					a[row + j * lda] = l;
			}
			T *to = a + (c0 + warp) * lda;
#pragma unroll
			for (int i = 0; i < BATCH; i++) {
				value[i] = minus_product(value[i], l, p[i]);
				if (updates && active && c0 + warp + i * WARPS < n)
					to[row] = value[i];
				to += WARPS * lda;
			}
			if (c0 == j + 1 && warp == 0 && active && c0 < n)
				best = extreme_of(best, {magnitude_key(value[0]), (uint32_t)row});
		}
	}
	if (warp == 0) {
		best = warp_extreme(best);
		if (lane == 0)
			work->parts[blockIdx.x] = best;
	}
}

/* The previous update left `parts` candidates. */
template <typename T>
__global__ void pivot_kernel(T *a, int64_t lda, int64_t m, int64_t n, int64_t j, int parts,
        const struct work *work, int *pivots)
{
	__shared__ extreme_scratch<uint64_t> scratch;
	part best = {0, NO_INDEX};
	for (int i = threadIdx.x; i < parts; i += blockDim.x)
		best = extreme_of(best, work->parts[i]);
	best = block_extreme(best, &scratch, 0);
	/* row j when the search was left out (a phase timer's run without it) */
	const int64_t pivot = best.index >= j && best.index < m ? best.index : j;
	if (threadIdx.x == 0) {
		pivots[j] = (int)pivot + 1;
		if (j == 0)
			pivots[n] = 0;
		if (best.key == magnitude_key(T(0)) && pivots[n] == 0)
			pivots[n] = (int)j + 1;
	}
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
	const pivot_divisor<T> divisor = pivot_divide_by(*pivot);
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < m; i += step)
		x[i] = pivot_divide(x[i], divisor);
}

template <typename T>
void update(void *a, int64_t lda, int64_t m, int64_t n, int64_t j, void *w, cudaStream_t stream)
{
	update_kernel<T><<<update_blocks(m - j - 1), ROWS * WARPS, 0, stream>>>(
	        (T *)a, lda, (int)m, (int)n, (int)j, (struct work *)w);
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

extern "C" int panel_fused_pivot(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, int64_t j, void *w, int *pivots, void *stream)
{
	const struct work *work = (const struct work *)w;
	const int parts = update_blocks(m - j);
	if (precision == SINGLE)
		pivot_kernel<<<1, 32 * WARPS, 0, (cudaStream_t)stream>>>(
		        (float *)a, lda, m, n, j, parts, work, pivots);
	else
		pivot_kernel<<<1, 32 * WARPS, 0, (cudaStream_t)stream>>>(
		        (double *)a, lda, m, n, j, parts, work, pivots);
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
