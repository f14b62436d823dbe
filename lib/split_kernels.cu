/* SPDX-License-Identifier: MIT */
/* Splits operands for 3xTF32. Cost: a word read and three or four written; each thread has LOADS
 * reads in flight. */
#include "tf32.h"

namespace
{

const int THREADS = 256;
const int LOADS = 8;
const int ROWS = 128;
const int COLUMNS = THREADS / ROWS * LOADS;
const int TILE = 32;

/* A slot of `piece` rows for each part. */
struct target {
	float *data;
	int64_t ld, piece, columns;
	int slots, low;
};

__device__ void put(const struct target &to, int64_t i, int64_t j, float x)
{
	const float high = tf32_round(x), low = tf32_low(x);
	for (int slot = 0; slot < to.slots; slot++)
		to.data[i + slot * to.piece + j * to.ld] = slot == to.low ? low : high;
}

/* Of a, m x n. */
__global__ void __launch_bounds__(THREADS) split_kernel(const float *__restrict__ a, int64_t lda,
        int64_t m, int64_t n, int64_t row_tiles, struct target to)
{
	const int64_t i = blockIdx.x % row_tiles * ROWS + threadIdx.x % ROWS;
	const int64_t j0 = blockIdx.x / row_tiles * COLUMNS + threadIdx.x / ROWS;
	const int step = THREADS / ROWS;
	float loaded[LOADS];
	if (i >= to.piece)
		return;
#pragma unroll
	for (int c = 0; c < LOADS; c++) {
		const int64_t j = j0 + c * step;
		loaded[c] = i < m && j < n ? a[i + j * lda] : 0;
	}
#pragma unroll
	for (int c = 0; c < LOADS; c++)
		if (j0 + c * step < to.columns)
			put(to, i, j0 + c * step, loaded[c]);
}

/* Of the transpose of a, m x n, by tiles in shared memory: both sides are accessed along their
 * columns. */
__global__ void __launch_bounds__(THREADS) split_transposed_kernel(const float *__restrict__ a,
        int64_t lda, int64_t m, int64_t n, int64_t row_tiles, struct target to)
{
	__shared__ float tile[TILE][TILE + 1];
	const int64_t i0 = blockIdx.x % row_tiles * TILE, j0 = blockIdx.x / row_tiles * TILE;
	const int x = threadIdx.x % TILE, y0 = threadIdx.x / TILE;
	const int step = THREADS / TILE, loads = TILE / step;
	float value[loads];
#pragma unroll
	for (int k = 0; k < loads; k++) {
		const int64_t i = i0 + x, j = j0 + y0 + k * step;
		value[k] = i < m && j < n ? a[i + j * lda] : 0;
	}
#pragma unroll
	for (int k = 0; k < loads; k++)
		tile[y0 + k * step][x] = value[k];
	__syncthreads();
#pragma unroll
	for (int k = 0; k < loads; k++) {
		const int64_t row = j0 + x, column = i0 + y0 + k * step;
		if (row < to.piece && column < to.columns)
			put(to, row, column, tile[x][y0 + k * step]);
	}
}

/* Reads of a triangle's other half are left out, so are blocks of threads with nothing else. */
__global__ void __launch_bounds__(THREADS) add_kernel(bool lower, const float *__restrict__ blocks,
        int64_t width, float *c, int64_t ldc, int64_t n, int64_t row_tiles)
{
	const int64_t i = blockIdx.x % row_tiles * ROWS + threadIdx.x % ROWS;
	const int64_t j0 = blockIdx.x / row_tiles * COLUMNS + threadIdx.x / ROWS;
	const int step = THREADS / ROWS;
	float sum[LOADS];
#pragma unroll
	for (int k = 0; k < LOADS; k++) {
		const int64_t j = j0 + k * step, row = j / width * width + i;
		if (i < width && j < n && row < n && (lower ? row >= j : row <= j))
			sum[k] = c[row + j * ldc] + blocks[i + j * width];
	}
#pragma unroll
	for (int k = 0; k < LOADS; k++) {
		const int64_t j = j0 + k * step, row = j / width * width + i;
		if (i < width && j < n && row < n && (lower ? row >= j : row <= j))
			c[row + j * ldc] = sum[k];
	}
}

int64_t tiles(int64_t n, int64_t tile)
{
	return (n + tile - 1) / tile;
}

} // namespace

extern "C" int tf32_split(
        struct matrix a, enum trans trans, enum split_form stack, struct matrix to, void *stream)
{
	const int slots = tf32_slots(stack);
	const struct target target = {(float *)to.data + to.offset, to.ld, to.m / slots, to.n,
	        slots, tf32_low_slot(stack)};
	const float *data = (const float *)a.data + a.offset;
	const int64_t row_tiles = trans == PLAIN ? tiles(target.piece, ROWS) : tiles(a.m, TILE);
	const int64_t blocks =
	        row_tiles * (trans == PLAIN ? tiles(to.n, COLUMNS) : tiles(target.piece, TILE));
	if (blocks == 0)
		return (int)cudaSuccess;
	if (trans == PLAIN)
		split_kernel<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(
		        data, a.ld, a.m, a.n, row_tiles, target);
	else
		split_transposed_kernel<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(
		        data, a.ld, a.m, a.n, row_tiles, target);
	return (int)cudaGetLastError();
}

extern "C" int tf32_add_triangles(
        enum uplo uplo, struct matrix blocks, struct matrix c, void *stream)
{
	const int64_t row_tiles = tiles(blocks.m, ROWS), all = row_tiles * tiles(c.n, COLUMNS);
	if (all == 0)
		return (int)cudaSuccess;
	add_kernel<<<(unsigned)all, THREADS, 0, (cudaStream_t)stream>>>(uplo == LOWER,
	        (const float *)blocks.data + blocks.offset, blocks.m, (float *)c.data + c.offset,
	        c.ld, c.n, row_tiles);
	return (int)cudaGetLastError();
}
