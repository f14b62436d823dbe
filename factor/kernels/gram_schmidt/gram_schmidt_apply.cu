/* SPDX-License-Identifier: MIT */
/* The blocked update of Brandes, Arnold, Soddemann and Reith (2012): a block of threads holds a
 * few whole columns in registers and projects the orthonormal columns q out of them, one after
 * another. The operations are those of modified Gram-Schmidt, but each column moves once for all
 * k columns q, which come from L2.
 *
 * Cost of a q: m words from L2 for HELD columns, their dot products (a block's reduction) and
 * updates. */
#include "lib/base/base.h"
#include "gram_schmidt_kernels.h"
#include "lib/device/reduce.cuh"

#include <cuda_runtime.h>

namespace
{

const int THREADS = 512, WARPS = THREADS / 32;

template <typename T> struct apply {
	const T *q;
	T *r, *a;
	int64_t ldq, ldr, lda, n;
	int m, k;
};

/* Rows of a thread, THREADS apart. */
template <typename T> struct held {
	static constexpr int ROWS = GRAM_APPLY_BYTES / THREADS / sizeof(T);
};

template <typename T, int ROWS>
static __device__ __forceinline__ void load_rows(T (&x)[ROWS], const T *column, int m)
{
#pragma unroll
	for (int i = 0; i < ROWS; i++) {
		const int row = i * THREADS + threadIdx.x;
		x[i] = row < m ? column[row] : T(0);
	}
}

/* The sums over the block, in all threads. */
template <typename T, int HELD>
static __device__ __forceinline__ void block_sums(
        T (&sum)[HELD], T (&part)[2][HELD][WARPS], int turn)
{
#pragma unroll
	for (int c = 0; c < HELD; c++) {
		const T mine = warp_sum(sum[c]);
		if (threadIdx.x % 32 == 0)
			part[turn][c][threadIdx.x / 32] = mine;
	}
	__syncthreads();
#pragma unroll
	for (int c = 0; c < HELD; c++) {
		sum[c] = T(0);
#pragma unroll
		for (int w = 0; w < WARPS; w++)
			sum[c] += part[turn][c][w];
	}
}

template <typename T, int HELD>
__global__ void __launch_bounds__(THREADS, 1) apply_kernel(const struct apply<T> p)
{
	const int ROWS = held<T>::ROWS;
	__shared__ alignas(16) T part[2][HELD][WARPS];
	const int64_t first = (int64_t)blockIdx.x * HELD;
	T x[HELD][ROWS], q[ROWS], next[ROWS];
#pragma unroll
	for (int c = 0; c < HELD; c++)
		load_rows(x[c], p.a + (first + c) * p.lda, first + c < p.n ? p.m : 0);
	load_rows(next, p.q, p.m);
	for (int i = 0; i < p.k; i++) {
		T sum[HELD];
#pragma unroll
		for (int u = 0; u < ROWS; u++)
			q[u] = next[u];
		if (i + 1 < p.k)
			load_rows(next, p.q + (i + 1) * p.ldq, p.m);
#pragma unroll
		for (int c = 0; c < HELD; c++) {
			sum[c] = T(0);
#pragma unroll
			for (int u = 0; u < ROWS; u++)
				sum[c] += x[c][u] * q[u];
		}
		block_sums(sum, part, i & 1);
		if (threadIdx.x < HELD && first + threadIdx.x < p.n) {
			T mine = sum[0];
#pragma unroll
			for (int c = 1; c < HELD; c++)
				mine = threadIdx.x == c ? sum[c] : mine;
			p.r[i + (first + threadIdx.x) * p.ldr] = mine;
		}
#pragma unroll
		for (int c = 0; c < HELD; c++)
#pragma unroll
			for (int u = 0; u < ROWS; u++)
				x[c][u] -= sum[c] * q[u];
	}
#pragma unroll
	for (int c = 0; c < HELD; c++)
#pragma unroll
		for (int u = 0; u < ROWS; u++) {
			const int row = u * THREADS + threadIdx.x;
			if (row < p.m && first + c < p.n)
				p.a[row + (first + c) * p.lda] = x[c][u];
		}
}

template <typename T, int HELD>
int start(struct matrix q, struct matrix r, struct matrix a, cudaStream_t stream)
{
	const struct apply<T> p = {
		(const T *)matrix_address(q), (T *)matrix_address(r),
		        (T *)matrix_address(a), q.ld, r.ld, a.ld, a.n, (int)a.m, (int)q.n
	};
	const int64_t blocks = (a.n + HELD - 1) / HELD;
	apply_kernel<T, HELD><<<(unsigned)blocks, THREADS, 0, stream>>>(p);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int gram_schmidt_apply(
        struct matrix q, struct matrix r, struct matrix a, bool single, void *stream)
{
	cudaStream_t to = (cudaStream_t)stream;
	if (a.precision == SINGLE)
		return single ? start<float, 1>(q, r, a, to)
		              : start<float, GRAM_APPLY_COLUMNS>(q, r, a, to);
	return single ? start<double, 1>(q, r, a, to)
	              : start<double, GRAM_APPLY_COLUMNS>(q, r, a, to);
}
