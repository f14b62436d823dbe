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

struct target {
	float *data;
	int64_t ld, apart; /* from slot to slot */
	int slots, low;
};

__device__ void put(const struct target &to, int64_t at, float x)
{
	const float high = tf32_round(x), low = tf32_low(x);
	for (int slot = 0; slot < to.slots; slot++)
		to.data[at + slot * to.apart] = slot == to.low ? low : high;
}

/* A slot is rows x columns, a its first m x n. */
__global__ void __launch_bounds__(THREADS) split_kernel(const float *__restrict__ a, int64_t lda,
        int64_t m, int64_t n, int64_t rows, int64_t columns, int64_t row_tiles, struct target to)
{
	const int64_t i = blockIdx.x % row_tiles * ROWS + threadIdx.x % ROWS;
	const int64_t j0 = blockIdx.x / row_tiles * COLUMNS + threadIdx.x / ROWS;
	const int step = THREADS / ROWS;
	float loaded[LOADS];
	if (i >= rows)
		return;
#pragma unroll
	for (int c = 0; c < LOADS; c++) {
		const int64_t j = j0 + c * step;
		loaded[c] = i < m && j < n ? a[i + j * lda] : 0;
	}
#pragma unroll
	for (int c = 0; c < LOADS; c++)
		if (j0 + c * step < columns)
			put(to, i + (j0 + c * step) * to.ld, loaded[c]);
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
        struct matrix a, enum tf32_stack stack, bool down, struct matrix to, void *stream)
{
	const int slots = tf32_slots(stack);
	const int64_t rows = down ? to.m / slots : to.m, columns = down ? to.n : to.n / slots;
	const struct target target = {(float *)to.data + to.offset, to.ld,
	        down ? rows : columns * to.ld, slots, tf32_low_slot(stack)};
	const int64_t row_tiles = tiles(rows, ROWS), blocks = row_tiles * tiles(columns, COLUMNS);
	if (blocks == 0)
		return (int)cudaSuccess;
	split_kernel<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(
	        (const float *)a.data + a.offset, a.ld, a.m, a.n, rows, columns, row_tiles, target);
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
