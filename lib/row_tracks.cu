/* SPDX-License-Identifier: MIT */
/* Late exchanges of rows. Floor of settling a square: n^2 elements read and written, and two
 * integers for each out of the nearest caches. */
#include "row_tracks.h"

namespace
{

const int THREADS = 512;
const int TRACK_THREADS = 128;
const int AT_ONCE = 1024;         /* exchanges in shared memory */
const int GROUP = 4;              /* columns of a block of threads, */
const int GROUP_BYTES = 96 << 10; /* in so much shared memory where one column finds room there */

struct track {
	const int *before, *pivot; /* before: NULL at first */
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
	int group;
};

template <typename T>
__global__ void __launch_bounds__(THREADS) settle_kernel(const struct settled<T> s)
{
	extern __shared__ char shared[];
	T *held = (T *)shared;
	const int64_t first = (int64_t)blockIdx.x * s.group;
	const int count = s.columns - first < s.group ? (int)(s.columns - first) : s.group;
	for (int c = 0; c < count; c++) {
		const T *from = s.a + (first + c) * s.lda;
#pragma unroll 4
		for (int64_t i = s.end_of[first + c] + threadIdx.x; i < s.m; i += THREADS)
			held[c * s.m + i] = from[i];
	}
	__syncthreads();
	for (int c = 0; c < count; c++) {
		T *to = s.a + (first + c) * s.lda;
		const int *place = s.place + s.block_of[first + c] * s.m;
#pragma unroll 4
		for (int64_t i = s.end_of[first + c] + threadIdx.x; i < s.m; i += THREADS)
			to[i] = held[c * s.m + place[s.origin[i]]];
	}
}

template <typename T> int settle(struct row_tracks t, struct matrix a, cudaStream_t stream)
{
	const int64_t column = t.m * (int64_t)sizeof(T), fit = GROUP_BYTES / column;
	const int group = fit < 1 ? 1 : fit > GROUP ? GROUP : (int)fit;
	const int bytes = (int)(group * column);
	const struct settled<T> s = {
		t.data, t.data + t.columns,
		        t.data + row_tracks_origin(t), t.data + row_tracks_place(t, 0),
		        (T *)a.data + a.offset, a.ld, t.m, t.columns, group
	};
	const cudaError_t error = cudaFuncSetAttribute(
	        (const void *)settle_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	if (error != cudaSuccess)
		return (int)error;
	settle_kernel<T>
	        <<<(unsigned)((t.columns + group - 1) / group), THREADS, bytes, stream>>>(s);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int row_tracks_track(
        struct row_tracks t, struct pivots p, int64_t first, int64_t block, void *stream)
{
	const struct track track = {block ? t.data + row_tracks_place(t, block - 1) : NULL, p.data,
	        t.data, t.data + t.columns, t.data + row_tracks_origin(t),
	        t.data + row_tracks_place(t, block), t.m, (int)first, (int)p.n, (int)block};
	if (t.m == 0)
		return (int)cudaSuccess;
	track_kernel<<<(unsigned)((t.m + TRACK_THREADS - 1) / TRACK_THREADS), TRACK_THREADS, 0,
	        (cudaStream_t)stream>>>(track);
	return (int)cudaGetLastError();
}

extern "C" int row_tracks_settle(struct row_tracks t, struct matrix a, void *stream)
{
	if (t.m == 0 || t.columns == 0)
		return (int)cudaSuccess;
	return a.precision == SINGLE ? settle<float>(t, a, (cudaStream_t)stream)
	                             : settle<double>(t, a, (cudaStream_t)stream);
}
