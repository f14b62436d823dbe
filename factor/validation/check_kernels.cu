/* SPDX-License-Identifier: MIT */
#include "check_kernels.h"

static const int THREADS = 256;
static const int64_t MOST_BLOCKS = 16384;

/* Every block takes columns in turn, so that any n is covered. */
template <typename T>
__global__ void widen_kernel(
        const T *from, int64_t ld, int64_t m, int64_t n, double *to, int64_t to_ld)
{
	for (int64_t j = blockIdx.y; j < n; j += gridDim.y)
		for (int64_t i = blockIdx.x * THREADS + threadIdx.x; i < m;
		        i += (int64_t)gridDim.x * THREADS)
			to[i + j * to_ld] = (double)from[i + j * ld];
}

static __device__ __forceinline__ uint64_t mixed(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* The middles of 2^24 equal steps, exact in single precision, as matrices.c has them. */
static __device__ __forceinline__ double uniform(uint64_t seed, int64_t i, int64_t j)
{
	uint64_t z = mixed(mixed(seed + 0x9e3779b97f4a7c15ull * (uint64_t)(j + 1)) +
	                   0x9e3779b97f4a7c15ull * (uint64_t)(i + 1));

	return ((double)(z >> 40) + 0.5) * 0x1p-23 - 1;
}

template <typename T>
__global__ void random_kernel(
        T *a, int64_t ld, int64_t m, int64_t n, uint64_t seed, bool symmetric, double shift)
{
	for (int64_t j = blockIdx.y; j < n; j += gridDim.y)
		for (int64_t i = blockIdx.x * THREADS + threadIdx.x; i < m;
		        i += (int64_t)gridDim.x * THREADS) {
			bool mirror = symmetric && i < j;
			double x = uniform(seed, mirror ? j : i, mirror ? i : j);
			a[i + j * ld] = (T)(i == j ? x + shift : x);
		}
}

static dim3 grid_of(int64_t m, int64_t n)
{
	int64_t x = (m + THREADS - 1) / THREADS;

	return dim3((unsigned)(x < 64 ? x : 64), (unsigned)(n < MOST_BLOCKS ? n : MOST_BLOCKS));
}

int check_widen(const void *from, int64_t ld, int is_double, int64_t m, int64_t n, double *to,
        int64_t to_ld)
{
	if (m <= 0 || n <= 0)
		return cudaSuccess;
	if (is_double)
		widen_kernel<<<grid_of(m, n), THREADS>>>((const double *)from, ld, m, n, to, to_ld);
	else
		widen_kernel<<<grid_of(m, n), THREADS>>>((const float *)from, ld, m, n, to, to_ld);
	return cudaGetLastError();
}

int check_random(void *a, int64_t ld, int is_double, int64_t m, int64_t n, uint64_t seed,
        int symmetric, double shift)
{
	if (m <= 0 || n <= 0)
		return cudaSuccess;
	if (is_double)
		random_kernel<<<grid_of(m, n), THREADS>>>(
		        (double *)a, ld, m, n, seed, symmetric != 0, shift);
	else
		random_kernel<<<grid_of(m, n), THREADS>>>(
		        (float *)a, ld, m, n, seed, symmetric != 0, shift);
	return cudaGetLastError();
}

int check_idle(void)
{
	return cudaDeviceSynchronize();
}
