/* SPDX-License-Identifier: MIT */
/* Splits operands for 3xTF32. Cost: a word read and three or four written. Each thread has LOADS
 * reads in flight. */
#include "lib/device/early_launch.cuh"
#include "split_parts.cuh"

namespace
{

const int THREADS = 256;
const int LOADS = 8;
const int ROWS = 128;
const int COLUMNS = THREADS / ROWS * LOADS;
const int TILE = 32;

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

/* One operand, a, m x n, or its transpose, and its number of blocks of threads. */
struct part {
	const float *a;
	int64_t lda, m, n, row_tiles, blocks;
	bool transposed;
	struct target to;
};

__device__ void split(const struct part &p, int64_t block)
{
	const int64_t i = block % p.row_tiles * ROWS + threadIdx.x % ROWS;
	const int64_t j0 = block / p.row_tiles * COLUMNS + threadIdx.x / ROWS;
	const int step = THREADS / ROWS;
	float loaded[LOADS];
	if (i >= p.to.piece)
		return;
#pragma unroll
	for (int c = 0; c < LOADS; c++) {
		const int64_t j = j0 + c * step;
		loaded[c] = i < p.m && j < p.n ? p.a[i + j * p.lda] : 0;
	}
#pragma unroll
	for (int c = 0; c < LOADS; c++)
		if (j0 + c * step < p.to.columns)
			put(p.to, i, j0 + c * step, loaded[c]);
}

/* By tiles in shared memory, so that both sides are accessed along their columns. */
__device__ void split_transposed(const struct part &p, int64_t block, float (*tile)[TILE + 1])
{
	const int64_t i0 = block % p.row_tiles * TILE, j0 = block / p.row_tiles * TILE;
	const int x = threadIdx.x % TILE, y0 = threadIdx.x / TILE;
	const int step = THREADS / TILE, loads = TILE / step;
	float value[loads];
#pragma unroll
	for (int k = 0; k < loads; k++) {
		const int64_t i = i0 + x, j = j0 + y0 + k * step;
		value[k] = i < p.m && j < p.n ? p.a[i + j * p.lda] : 0;
	}
#pragma unroll
	for (int k = 0; k < loads; k++)
		tile[y0 + k * step][x] = value[k];
	__syncthreads();
#pragma unroll
	for (int k = 0; k < loads; k++) {
		const int64_t row = j0 + x, column = i0 + y0 + k * step;
		if (row < p.to.piece && column < p.to.columns)
			put(p.to, row, column, tile[x][y0 + k * step]);
	}
}

__global__ void __launch_bounds__(THREADS) split_kernel(const parts<struct part> parts)
{
	__shared__ float tile[TILE][TILE + 1];
	const bool second = blockIdx.x >= parts.first.blocks;
	const struct part part = second ? parts.second : parts.first;
	const int64_t block = blockIdx.x - (second ? parts.first.blocks : 0);
	early_begin();
	if (part.transposed)
		split_transposed(part, block, tile);
	else
		split(part, block);
}

/* Skips reads of the other triangle. */
__global__ void __launch_bounds__(THREADS) add_kernel(bool lower, const float *__restrict__ blocks,
        uint32_t width, float *c, int64_t ldc, uint32_t n, uint32_t row_tiles)
{
	const uint32_t i = blockIdx.x % row_tiles * ROWS + threadIdx.x % ROWS;
	const uint32_t j0 = blockIdx.x / row_tiles * COLUMNS + threadIdx.x / ROWS;
	const int step = THREADS / ROWS;
	float sum[LOADS];
	float *to[LOADS];
#pragma unroll
	for (int k = 0; k < LOADS; k++) {
		const uint32_t j = j0 + k * step, row = j / width * width + i;
		const bool there = i < width && j < n && row < n && (lower ? row >= j : row <= j);
		to[k] = there ? c + row + j * ldc : NULL;
		if (there)
			sum[k] = *to[k] + blocks[i + (int64_t)j * width];
	}
#pragma unroll
	for (int k = 0; k < LOADS; k++)
		if (to[k])
			*to[k] = sum[k];
}

int64_t tiles(int64_t n, int64_t tile)
{
	return (n + tile - 1) / tile;
}

struct part part_of(const struct splitting &s)
{
	const int slots = tf32_slots(s.stack);
	const struct target to = {(float *)matrix_address(s.to), s.to.ld, s.to.m / slots, s.to.n,
	        slots, tf32_low_slot(s.stack)};
	const bool transposed = s.trans == TRANSPOSED;
	const int64_t row_tiles = transposed ? tiles(s.a.m, TILE) : tiles(to.piece, ROWS);
	const int64_t columns = transposed ? tiles(to.piece, TILE) : tiles(to.columns, COLUMNS);
	const struct part part = {(const float *)matrix_address(s.a), s.a.ld, s.a.m, s.a.n,
	        row_tiles, row_tiles * columns, transposed, to};
	return part;
}

} // namespace

extern "C" int tf32_split(const struct splits *splits, void *stream)
{
	const parts<struct part> parts = parts_of(splits, part_of);
	const int64_t blocks = parts.blocks();
	if (blocks == 0)
		return (int)cudaSuccess;
	return (int)early_launch(split_kernel, blocks, THREADS, 0, parts, stream);
}

extern "C" int tf32_add_triangles(
        enum uplo uplo, struct matrix blocks, struct matrix c, void *stream)
{
	const int64_t row_tiles = tiles(blocks.m, ROWS), all = row_tiles * tiles(c.n, COLUMNS);
	if (all == 0)
		return (int)cudaSuccess;
	add_kernel<<<(unsigned)all, THREADS, 0, (cudaStream_t)stream>>>(uplo == LOWER,
	        (const float *)matrix_address(blocks), blocks.m, (float *)matrix_address(c), c.ld,
	        c.n, row_tiles);
	return (int)cudaGetLastError();
}
