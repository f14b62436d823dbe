/* SPDX-License-Identifier: MIT */
/* Cost of a product: a launch; ceil(m / 64) blocks of n dependent multiply-adds (plain), n blocks
 * of ceil(m / 64) (transposed). Of kerr_house: a launch, a sum over a block, and a column read and
 * written by blocks of KERR_HOUSE_ROWS rows; each block finds the norm itself. */
#include "kerr_kernels.h"

#include "lib/device/reduce.cuh"

#include <cuda_runtime_api.h>

namespace
{

const int BLOCK = KERR_BLOCK;
const int HOUSE = KERR_HOUSE_BLOCK;

/* y = factor op(A) x + added. factor: alpha, times *tau unless tau is NULL. added: none where from
 * is NULL, else beta from, and with tau factor from. */
template <typename T> struct product {
	int64_t m, n;
	const T *a;
	int64_t lda;
	const T *x;
	int64_t incx;
	T alpha, beta;
	const T *tau, *from;
	T *y;
	int64_t incy;
};

template <typename T> __device__ void store(const struct product<T> &p, int64_t i, T sum)
{
	const T factor = p.tau ? p.alpha * *p.tau : p.alpha;
	T result = factor * sum;
	if (p.from)
		result += (p.tau ? factor : p.beta) * p.from[i * p.incy];
	p.y[i * p.incy] = result;
}

template <typename T> __global__ void plain_kernel(const struct product<T> p)
{
	__shared__ T part[BLOCK];
	const int64_t row = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
	const T *from = p.a + (row < p.m ? row : p.m - 1);
	T sum = T(0);
	for (int64_t k = 0; k < p.n; k += BLOCK) {
		const int count = (int)min((int64_t)BLOCK, p.n - k);
		if ((int)threadIdx.x < count)
			part[threadIdx.x] = p.x[(k + threadIdx.x) * p.incx];
		__syncthreads();
		if (count == BLOCK) {
#pragma unroll
			for (int j = 0; j < BLOCK; j++, from += p.lda)
				sum += *from * part[j];
		} else {
			for (int j = 0; j < count; j++, from += p.lda)
				sum += *from * part[j];
		}
		__syncthreads();
	}
	if (row < p.m)
		store(p, row, sum);
}

template <typename T> __global__ void transposed_kernel(const struct product<T> p)
{
	__shared__ T part[BLOCK];
	for (int64_t j = blockIdx.x; j < p.n; j += gridDim.x) {
		T sum = T(0);
#pragma unroll KERR_UNROLL
		for (int64_t i = threadIdx.x; i < p.m; i += BLOCK)
			sum += p.a[i + j * p.lda] * p.x[i * p.incx];
		part[threadIdx.x] = sum;
		__syncthreads();
		for (int half = BLOCK / 2; half > 0; half /= 2) {
			if ((int)threadIdx.x < half)
				part[threadIdx.x] += part[threadIdx.x + half];
			__syncthreads();
		}
		if (threadIdx.x == 0)
			store(p, j, part[0]);
		__syncthreads();
	}
}

template <typename T> int launch(bool transposed, const struct product<T> &p, cudaStream_t stream)
{
	const int64_t most = 1 << 20, blocks = (p.m + BLOCK - 1) / BLOCK;
	if (transposed)
		transposed_kernel<T><<<(unsigned)(p.n < most ? p.n : most), BLOCK, 0, stream>>>(p);
	else
		plain_kernel<T><<<(unsigned)blocks, BLOCK, 0, stream>>>(p);
	return (int)cudaGetLastError();
}

/* alpha = 0: A and x are not read. */
template <typename T> int gemv(const struct gemv_call *c, cudaStream_t stream)
{
	const bool unread = c->alpha == 0;
	const struct product<T> p = {
		unread && c->transposed ? 0 : c->m, unread && !c->transposed ? 0 : c->n,
		        (const T *)c->a, c->lda, (const T *)c->x, c->incx, T(c->alpha),
		        T(c->beta), NULL, c->beta == 0 ? NULL : (const T *)c->y, (T *)c->y, c->incy
	};
	return launch(c->transposed, p, stream);
}

template <typename T>
int project(struct matrix tau, struct matrix a, struct matrix v, struct matrix row, void *stream)
{
	const struct product<T> p = {
		a.m, a.n, (const T *)matrix_address(a), a.ld, (const T *)matrix_address(v), 1, T(1),
		        T(0), tau.n == 0 ? NULL : (const T *)matrix_address(tau), NULL,
		        (T *)matrix_address(row), row.ld
	};
	return launch(true, p, (cudaStream_t)stream);
}

template <typename T>
int extend(struct matrix tau, struct matrix w, struct matrix row, struct matrix v, struct matrix z,
        void *stream)
{
	const struct product<T> p = {
		z.m, w.n, (const T *)matrix_address(w), w.ld,
		        (const T *)matrix_address(row), row.ld, T(-1), T(0),
		        (const T *)matrix_address(tau), (const T *)matrix_address(v),
		        (T *)matrix_address(z), 1
	};
	return launch(false, p, (cudaStream_t)stream);
}

/* x: column j of the block, y: that of Y. */
template <typename T>
__global__ void __launch_bounds__(HOUSE)
        house_kernel(int64_t m, int64_t j, const T *x, const T *squares, T *y, T *tau)
{
	__shared__ struct sum_scratch<T> scratch;
	T above = T(0);
	for (int64_t i = threadIdx.x; i < j; i += HOUSE)
		above += x[i] * x[i];
	const T whole = squares[j];
	T rest = whole - block_sum(above, &scratch, 0);
	if (!(rest > whole / 4)) { /* NaN, too; the same for all threads and blocks */
		T own = T(0);
		for (int64_t i = j + threadIdx.x; i < m; i += HOUSE)
			own += x[i] * x[i];
		rest = block_sum(own, &scratch, 1);
	}
	const T first = x[j], norm = sqrt(rest);
	const int64_t begin = (int64_t)blockIdx.x * KERR_HOUSE_ROWS;
#pragma unroll
	for (int64_t l = threadIdx.x; l < KERR_HOUSE_ROWS; l += HOUSE) {
		const int64_t i = begin + l;
		if (i < m)
			y[i] = i < j ? T(0) : i == j ? first + copysign(norm, first) : x[i];
	}
	if (blockIdx.x == 0 && threadIdx.x == 0)
		tau[j] = norm == T(0) ? T(0) : T(1) / (norm * (norm + fabs(first)));
}

template <typename T>
int house(struct matrix a, int64_t j, struct matrix squares, struct matrix y, struct matrix tau,
        cudaStream_t stream)
{
	const int64_t blocks = (a.m + KERR_HOUSE_ROWS - 1) / KERR_HOUSE_ROWS;
	house_kernel<T><<<(unsigned)blocks, HOUSE, 0, stream>>>(a.m, j,
	        (const T *)matrix_address(a) + j * a.ld, (const T *)matrix_address(squares),
	        (T *)matrix_address(y) + j * y.ld, (T *)matrix_address(tau));
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int kerr_gemv(const struct gemv_call *call, void *stream)
{
	if (call->m == 0 || call->n == 0)
		return (int)cudaSuccess;
	return call->precision == SINGLE ? gemv<float>(call, (cudaStream_t)stream)
	                                 : gemv<double>(call, (cudaStream_t)stream);
}

extern "C" int kerr_project(
        struct matrix tau, struct matrix a, struct matrix v, struct matrix row, void *stream)
{
	if (a.n == 0)
		return (int)cudaSuccess;
	return a.precision == SINGLE ? project<float>(tau, a, v, row, stream)
	                             : project<double>(tau, a, v, row, stream);
}

extern "C" int kerr_extend(struct matrix tau, struct matrix w, struct matrix row, struct matrix v,
        struct matrix z, void *stream)
{
	return z.precision == SINGLE ? extend<float>(tau, w, row, v, z, stream)
	                             : extend<double>(tau, w, row, v, z, stream);
}

extern "C" int kerr_house(struct matrix a, int64_t j, struct matrix squares, struct matrix y,
        struct matrix tau, void *stream)
{
	return a.precision == SINGLE ? house<float>(a, j, squares, y, tau, (cudaStream_t)stream)
	                             : house<double>(a, j, squares, y, tau, (cudaStream_t)stream);
}
