/* SPDX-License-Identifier: MIT */
/* Transposes, copies and fills. Cost: every word read and written once, limited by DRAM or L2. Each
 * thread has LOADS accesses in flight. */
#include "block_kernels.h"

namespace
{

const int THREADS = 256;
const int LOADS = 8;
const int ROWS = 128;                       /* of a block's tile, one per thread, */
const int COLUMNS = THREADS / ROWS * LOADS; /* and its columns */

int64_t tiles(int64_t n, int64_t tile)
{
	return (n + tile - 1) / tile;
}

/* Writes b(i,j) = value.at(i,j) where value.inside(i,j). */
template <typename T, typename V>
__global__ void __launch_bounds__(THREADS) each_kernel(
        T *__restrict__ b, int64_t ldb, int64_t m, int64_t n, int64_t row_tiles, V value)
{
	const int64_t i = blockIdx.x % row_tiles * ROWS + threadIdx.x % ROWS;
	const int64_t j0 = blockIdx.x / row_tiles * COLUMNS + threadIdx.x / ROWS;
	const int step = THREADS / ROWS;
	T loaded[LOADS];
	if (i >= m)
		return;
#pragma unroll
	for (int c = 0; c < LOADS; c++)
		if (j0 + c * step < n && value.inside(i, j0 + c * step))
			loaded[c] = value.at(i, j0 + c * step);
#pragma unroll
	for (int c = 0; c < LOADS; c++) {
		const int64_t j = j0 + c * step;
		if (j < n && value.inside(i, j))
			b[i + j * ldb] = loaded[c];
	}
}

/* A triangle with the diagonal, or all of a matrix. */
struct part {
	bool lower, upper;
	__device__ bool inside(int64_t i, int64_t j) const
	{
		return i == j || (i > j ? lower : upper);
	}
};

struct part part_of(enum uplo uplo)
{
	return {uplo != UPPER, uplo != LOWER};
}

template <typename T> struct same : part {
	const T *a;
	int64_t lda;
	__device__ T at(int64_t i, int64_t j) const
	{
		return a[i + j * lda];
	}
};

template <typename T> struct constant : part {
	T off, on;
	__device__ T at(int64_t i, int64_t j) const
	{
		return i == j ? on : off;
	}
};

template <typename T> struct reflector {
	const T *a;
	int64_t lda;
	__device__ T at(int64_t i, int64_t j) const
	{
		return i > j ? a[i + j * lda] : T(i == j);
	}
	__device__ bool inside(int64_t, int64_t) const
	{
		return true;
	}
};

template <typename T, typename V> int each(struct matrix b, V value, void *stream)
{
	const int64_t row_tiles = tiles(b.m, ROWS), blocks = row_tiles * tiles(b.n, COLUMNS);
	if (blocks == 0)
		return (int)cudaSuccess;
	each_kernel<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(
	        (T *)matrix_address(b), b.ld, b.m, b.n, row_tiles, value);
	return (int)cudaGetLastError();
}

/* b (n x m) = a^T (m x n) by TILE x TILE tiles in shared memory, so that both sides are accessed
 * along their columns. */
template <typename T, int TILE>
__global__ void __launch_bounds__(THREADS) transpose_kernel(const T *__restrict__ a, int64_t lda,
        T *__restrict__ b, int64_t ldb, int64_t m, int64_t n, int64_t row_tiles)
{
	__shared__ T tile[TILE][TILE + 1];
	const int64_t i0 = blockIdx.x % row_tiles * TILE, j0 = blockIdx.x / row_tiles * TILE;
	const int x = threadIdx.x % TILE, y0 = threadIdx.x / TILE;
	const int step = THREADS / TILE, loads = TILE / step;
	T value[loads];
#pragma unroll
	for (int k = 0; k < loads; k++)
		value[k] = i0 + x < m && j0 + y0 + k * step < n
		                   ? a[i0 + x + (j0 + y0 + k * step) * lda]
		                   : T(0);
#pragma unroll
	for (int k = 0; k < loads; k++)
		tile[y0 + k * step][x] = value[k];
	__syncthreads();
#pragma unroll
	for (int k = 0; k < loads; k++)
		if (j0 + x < n && i0 + y0 + k * step < m)
			b[j0 + x + (i0 + y0 + k * step) * ldb] = tile[x][y0 + k * step];
}

template <typename T, int TILE> int transpose(struct matrix a, struct matrix b, void *stream)
{
	const int64_t row_tiles = tiles(a.m, TILE), blocks = row_tiles * tiles(a.n, TILE);
	if (blocks == 0)
		return (int)cudaSuccess;
	transpose_kernel<T, TILE><<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(
	        (T *)matrix_address(a), a.ld, (T *)matrix_address(b), b.ld, a.m, a.n, row_tiles);
	return (int)cudaGetLastError();
}

template <typename T> int fill(enum uplo uplo, double off, double on, struct matrix a, void *stream)
{
	const constant<T> value = {part_of(uplo), (T)off, (T)on};
	return each<T>(a, value, stream);
}

template <typename T> int copy(enum uplo uplo, struct matrix from, struct matrix to, void *stream)
{
	const same<T> value = {part_of(uplo), (T *)matrix_address(from), from.ld};
	return each<T>(to, value, stream);
}

} // namespace

extern "C" int block_transpose(struct matrix a, struct matrix b, void *stream)
{
	return a.precision == SINGLE ? transpose<float, 64>(a, b, stream)
	                             : transpose<double, 32>(a, b, stream);
}

extern "C" int block_copy(enum uplo uplo, struct matrix from, struct matrix to, void *stream)
{
	return from.precision == SINGLE ? copy<float>(uplo, from, to, stream)
	                                : copy<double>(uplo, from, to, stream);
}

extern "C" int block_fill(enum uplo uplo, double off, double on, struct matrix a, void *stream)
{
	return a.precision == SINGLE ? fill<float>(uplo, off, on, a, stream)
	                             : fill<double>(uplo, off, on, a, stream);
}

extern "C" int block_explicit_v(struct matrix a, struct matrix v, void *stream)
{
	return a.precision == SINGLE
	               ? each<float>(v, reflector<float>{(float *)matrix_address(a), a.ld}, stream)
	               : each<double>(
	                         v, reflector<double>{(double *)matrix_address(a), a.ld}, stream);
}
