/* SPDX-License-Identifier: MIT */
/* Deferred row swaps. Cost of applying them to a square: n^2 elements read and written, and two
 * integers per element from the nearest caches. */
#include "deferred_swaps.h"

#include "lib/device/current.h"

#include <cuda_pipeline.h>

namespace
{

const int THREADS = 512;
const int TRACK_THREADS = 128;
const int AT_ONCE = 1024; /* swaps in shared memory */

struct track {
	const int *before, *pivot; /* before: NULL in the first block */
	int *block_of, *end_of, *origin, *after;
	int64_t m;
	int first, count, block;
};

__global__ void __launch_bounds__(TRACK_THREADS) track_kernel(const struct track t)
{
	__shared__ int to[AT_ONCE];
	const int64_t row = (int64_t)blockIdx.x * TRACK_THREADS + threadIdx.x;
	int64_t place = row < t.m && t.before ? t.before[row] : row;
	for (int from = 0; from < t.count; from += AT_ONCE) {
		const int count = t.count - from < AT_ONCE ? t.count - from : AT_ONCE;
		__syncthreads();
		for (int i = threadIdx.x; i < count; i += TRACK_THREADS) {
			const int64_t other = t.first + (int64_t)t.pivot[from + i] - 1;
			const int own = t.first + from + i;
			to[i] = other > own && other < t.m ? (int)other : own;
		}
		__syncthreads();
		for (int i = 0; i < count; i++) {
			const int own = t.first + from + i, other = to[i];
			place = place == own ? other : place == other ? own : place;
		}
	}
	if (row < t.m) {
		t.after[row] = (int)place;
		t.origin[place] = (int)row;
	}
	for (int64_t i = row; i < t.count; i += (int64_t)gridDim.x * TRACK_THREADS) {
		t.block_of[t.first + i] = t.block;
		t.end_of[t.first + i] = t.first + t.count;
	}
}

template <typename T> struct settled {
	const int *block_of, *end_of, *origin, *place;
	T *a;
	int64_t lda, m, columns;
};

/* Applies the swaps to COLUMNS columns of one block, which share the look-up of source rows. */
template <typename T, int COLUMNS>
__device__ void settle_columns(const settled<T> &s, int64_t first, T *held)
{
	const int64_t end = s.end_of[first];
	const int *place = s.place + s.block_of[first] * s.m;
	T *a = s.a + first * s.lda;
	for (int64_t i = end + threadIdx.x; i < s.m; i += THREADS)
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			__pipeline_memcpy_async(&held[c * s.m + i], &a[i + c * s.lda], sizeof(T));
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
#pragma unroll 2
	for (int64_t i = end + threadIdx.x; i < s.m; i += THREADS) {
		const int from = place[s.origin[i]];
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			a[i + c * s.lda] = held[c * s.m + from];
	}
}

template <typename T, int COLUMNS>
__global__ void __launch_bounds__(THREADS) settle_kernel(const settled<T> s)
{
	extern __shared__ double shared[];
	T *held = (T *)shared;
	const int64_t first = (int64_t)blockIdx.x * COLUMNS, last = first + COLUMNS - 1;
	if (last < s.columns && s.block_of[first] == s.block_of[last]) {
		settle_columns<T, COLUMNS>(s, first, held);
		return;
	}
	for (int64_t c = first; c <= last && c < s.columns; c++) {
		settle_columns<T, 1>(s, c, held);
		__syncthreads();
	}
}

template <typename T, int COLUMNS> int start(const settled<T> &s, cudaStream_t stream)
{
	const int bytes = (int)(COLUMNS * s.m * (int64_t)sizeof(T));
	const int error = kernel_allow_shared((const void *)settle_kernel<T, COLUMNS>);
	if (error)
		return error;
	settle_kernel<T, COLUMNS>
	        <<<(unsigned)((s.columns + COLUMNS - 1) / COLUMNS), THREADS, bytes, stream>>>(s);
	return (int)cudaGetLastError();
}

template <typename T> int settle(struct deferred_swaps t, struct matrix a, cudaStream_t stream)
{
	const int group = deferred_swaps_group(a.precision, t.m, gpu_current()->shared_per_block);
	const settled<T> s = {t.data, t.data + t.columns, t.data + deferred_swaps_origin(t),
	        t.data + deferred_swaps_place(t, 0), (T *)matrix_address(a), a.ld, t.m, t.columns};
	return group == 4   ? start<T, 4>(s, stream)
	       : group == 2 ? start<T, 2>(s, stream)
	                    : start<T, 1>(s, stream);
}

} // namespace

extern "C" int deferred_swaps_record(
        struct deferred_swaps t, struct pivots p, int64_t first, int64_t block, void *stream)
{
	const struct track track = {block ? t.data + deferred_swaps_place(t, block - 1) : NULL,
	        p.data, t.data, t.data + t.columns, t.data + deferred_swaps_origin(t),
	        t.data + deferred_swaps_place(t, block), t.m, (int)first, (int)p.n, (int)block};
	if (t.m == 0)
		return (int)cudaSuccess;
	track_kernel<<<(unsigned)((t.m + TRACK_THREADS - 1) / TRACK_THREADS), TRACK_THREADS, 0,
	        (cudaStream_t)stream>>>(track);
	return (int)cudaGetLastError();
}

extern "C" int deferred_swaps_apply(struct deferred_swaps t, struct matrix a, void *stream)
{
	if (t.m == 0 || t.columns == 0)
		return (int)cudaSuccess;
	return a.precision == SINGLE ? settle<float>(t, a, (cudaStream_t)stream)
	                             : settle<double>(t, a, (cudaStream_t)stream);
}
