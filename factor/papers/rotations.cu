/* SPDX-License-Identifier: MIT */
/* Cost: every word read and written once, from L2 after an earlier stage used it; one launch per
 * stage; one block of threads per pair of columns (make), or per pair and piece of the rows
 * (apply). */
#include "rotations.h"

#include <cuda_runtime_api.h>

namespace
{

const int MAKE_THREADS = 512;
const int APPLY_THREADS = 256;
const int LOADS = 4; /* rows per thread in flight */

template <typename T> struct rotation {
	T c, s;
};

/* Turns (a, b) into (r, 0). NaN in either gives NaN in both. */
template <typename T> __device__ rotation<T> rotation_of(T a, T b, T r)
{
	return b == 0 ? rotation<T>{1, 0} : rotation<T>{a / r, b / r};
}

__device__ float length(float a, float b)
{
	return hypotf(a, b);
}

__device__ double length(double a, double b)
{
	return hypot(a, b);
}

/* Rotates rows first, first + step ... of a pair, except row `but`. */
template <typename T>
__device__ void rotate_rows(
        rotation<T> g, T *left, T *right, int64_t first, int64_t end, int step, int64_t but)
{
	T a[LOADS], b[LOADS];
	for (int64_t at = first; at < end; at += LOADS * step) {
#pragma unroll
		for (int l = 0; l < LOADS; l++)
			if (at + l * step < end) {
				a[l] = left[at + l * step];
				b[l] = right[at + l * step];
			}
#pragma unroll
		for (int l = 0; l < LOADS; l++) {
			const int64_t i = at + l * step;
			if (i < end && i != but) {
				left[i] = g.c * a[l] + g.s * b[l];
				right[i] = g.c * b[l] - g.s * a[l];
			}
		}
	}
}

template <typename T>
__global__ void __launch_bounds__(MAKE_THREADS)
        make_kernel(T *x, int64_t ldx, int64_t m, int64_t row, T *g, int64_t ldg)
{
	const int64_t pair = blockIdx.x, at = row + pair;
	T *left = x + 2 * pair * ldx, *right = left + ldx;
	const T a = left[at], b = right[at], r = length(a, b);
	const rotation<T> made = rotation_of(a, b, r);
	rotate_rows(made, left, right, threadIdx.x, m, MAKE_THREADS, at);
	__syncthreads(); /* all threads have read a and b */
	if (threadIdx.x == 0) {
		g[pair * ldg] = made.c;
		g[pair * ldg + 1] = made.s;
		left[at] = b == 0 ? a : r;
		right[at] = 0;
	}
}

template <typename T>
__global__ void __launch_bounds__(APPLY_THREADS) apply_kernel(
        const T *__restrict__ g, int64_t ldg, T *x, int64_t ldx, int64_t m, int64_t pieces)
{
	const int rows = APPLY_THREADS * LOADS;
	const int64_t pair = blockIdx.x / pieces, first = blockIdx.x % pieces * rows;
	T *left = x + 2 * pair * ldx, *right = left + ldx;
	const rotation<T> made = {g[pair * ldg], g[pair * ldg + 1]};
	const int64_t end = first + rows < m ? first + rows : m;
	rotate_rows(made, left, right, first + threadIdx.x, end, APPLY_THREADS, -1);
}

template <typename T> int make(int64_t row, struct matrix x, struct matrix g, cudaStream_t stream)
{
	make_kernel<<<(unsigned)g.n, MAKE_THREADS, 0, stream>>>(
	        (T *)matrix_address(x), x.ld, x.m, row, (T *)matrix_address(g), g.ld);
	return (int)cudaGetLastError();
}

template <typename T> int apply(struct matrix g, struct matrix x, cudaStream_t stream)
{
	const int64_t rows = APPLY_THREADS * LOADS, pieces = (x.m + rows - 1) / rows;
	apply_kernel<<<(unsigned)(g.n * pieces), APPLY_THREADS, 0, stream>>>(
	        (T *)matrix_address(g), g.ld, (T *)matrix_address(x), x.ld, x.m, pieces);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int rotations_make(int64_t row, struct matrix x, struct matrix g, void *stream)
{
	if (g.n == 0 || x.m == 0)
		return (int)cudaSuccess;
	return x.precision == SINGLE ? make<float>(row, x, g, (cudaStream_t)stream)
	                             : make<double>(row, x, g, (cudaStream_t)stream);
}

extern "C" int rotations_apply(struct matrix g, struct matrix x, void *stream)
{
	if (g.n == 0 || x.m == 0)
		return (int)cudaSuccess;
	return x.precision == SINGLE ? apply<float>(g, x, (cudaStream_t)stream)
	                             : apply<double>(g, x, (cudaStream_t)stream);
}
