/* SPDX-License-Identifier: MIT */
/* The matrix-vector product of Kerr, Campbell and Richards (2009), section 4, Listing 1, kept for
 * study: 64 threads per block, one thread per row, 64 elements of x at a time in shared memory,
 * columns streamed into registers. Their kernel assumes multiples of 64; this one has guards. They
 * print no transposed kernel. Ours gives a block of 64 threads one column, streamed in the same
 * way, and adds up in shared memory.
 *
 * Cost: ceil(m / 64) blocks of n dependent multiply-adds (N), n blocks of ceil(m / 64) (T). */
#include "gemv.h"

#include <cuda_runtime_api.h>

namespace
{

const int BLOCK = 64;

template <typename T> __device__ T blend(T alpha, T sum, T beta, const T *y)
{
	return beta == T(0) ? alpha * sum : alpha * sum + beta * *y;
}

template <typename T>
__global__ void plain_kernel(int64_t m, int64_t n, T alpha, const T *a, int64_t lda, const T *x,
        int64_t incx, T beta, T *y, int64_t incy)
{
	__shared__ T part[BLOCK];
	const int64_t row = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
	const T *from = a + (row < m ? row : m - 1);
	T sum = T(0);
	for (int64_t k = 0; k < n; k += BLOCK) {
		const int count = (int)min((int64_t)BLOCK, n - k);
		if ((int)threadIdx.x < count)
			part[threadIdx.x] = x[(k + threadIdx.x) * incx];
		__syncthreads();
		if (count == BLOCK) {
#pragma unroll
			for (int j = 0; j < BLOCK; j++, from += lda)
				sum += *from * part[j];
		} else {
			for (int j = 0; j < count; j++, from += lda)
				sum += *from * part[j];
		}
		__syncthreads();
	}
	if (row < m)
		y[row * incy] = blend(alpha, sum, beta, y + row * incy);
}

template <typename T>
__global__ void transposed_kernel(int64_t m, int64_t n, T alpha, const T *a, int64_t lda,
        const T *x, int64_t incx, T beta, T *y, int64_t incy)
{
	__shared__ T part[BLOCK];
	for (int64_t j = blockIdx.x; j < n; j += gridDim.x) {
		T sum = T(0);
		for (int64_t i = threadIdx.x; i < m; i += BLOCK)
			sum += a[i + j * lda] * x[i * incx];
		part[threadIdx.x] = sum;
		__syncthreads();
		for (int half = BLOCK / 2; half > 0; half /= 2) {
			if ((int)threadIdx.x < half)
				part[threadIdx.x] += part[threadIdx.x + half];
			__syncthreads();
		}
		if (threadIdx.x == 0)
			y[j * incy] = blend(alpha, part[0], beta, y + j * incy);
		__syncthreads();
	}
}

template <typename T> int launch(const struct gemv_call *c, cudaStream_t stream)
{
	/* alpha = 0: A and x are not read */
	const bool unread = c->alpha == 0;
	const T *a = (const T *)c->a, *x = (const T *)c->x;
	if (c->transposed) {
		const unsigned grid = (unsigned)(c->n < 1 << 20 ? c->n : 1 << 20);
		transposed_kernel<T><<<grid, BLOCK, 0, stream>>>(unread ? 0 : c->m, c->n,
		        (T)c->alpha, a, c->lda, x, c->incx, (T)c->beta, (T *)c->y, c->incy);
	} else {
		const unsigned grid = (unsigned)((c->m + BLOCK - 1) / BLOCK);
		plain_kernel<T><<<grid, BLOCK, 0, stream>>>(c->m, unread ? 0 : c->n, (T)c->alpha, a,
		        c->lda, x, c->incx, (T)c->beta, (T *)c->y, c->incy);
	}
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int gemv_kerr(const struct gemv_call *call, void *stream)
{
	if (call->m == 0 || call->n == 0)
		return (int)cudaSuccess;
	return call->precision == SINGLE ? launch<float>(call, (cudaStream_t)stream)
	                                 : launch<double>(call, (cudaStream_t)stream);
}
