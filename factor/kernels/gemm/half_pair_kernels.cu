/* SPDX-License-Identifier: MIT */
/* Splits operands for 3xFP16. Cost: a word read and one written. A warp holds a whole vector along
 * the inner dimension, because it needs the vector's largest element first. */
#include "lib/device/early_launch.cuh"
#include "half_pair.h"
#include "split_parts.cuh"
#include "tf32.h"

namespace
{

const int THREADS = 256, WARPS = THREADS / 32;
const int VECTORS = 32; /* of a block, when vectors are rows */
const int EACH = VECTORS / WARPS;

struct target {
	uint32_t *data;
	int64_t ld, columns;
	int depth; /* of each part */
};

/* A lane's elements of a vector are pairs, 64 apart. */
DEVICE int element(int i, int lane)
{
	return i / 2 * 64 + 2 * lane + i % 2;
}

/* A warp's elements of `vectors` vectors from `column` on, `step` apart; zeros past their end. */
template <int MINE, int vectors>
DEVICE void put(const struct target &to, int64_t column, int step, int lane,
        const float (&x)[vectors][MINE])
{
	int exponent[vectors];
#pragma unroll
	for (int v = 0; v < vectors; v++) {
		float largest = 0;
#pragma unroll
		for (int i = 0; i < MINE; i++)
			largest = fmaxf(largest, fabsf(x[v][i])); /* ignores a NaN */
#pragma unroll
		for (int over = 16; over > 0; over /= 2)
			largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, over));
		exponent[v] = half_exponent(largest);
	}
#pragma unroll
	for (int v = 0; v < vectors; v++) {
		const int64_t at = column + (int64_t)v * step;
		uint32_t *words = to.data + at * to.ld;
		if (at >= to.columns)
			return;
#pragma unroll
		for (int i = 0; i < MINE; i += 2) {
			uint16_t high[2], low[2];
			half_split(x[v][i], exponent[v], &high[0], &low[0]);
			half_split(x[v][i + 1], exponent[v], &high[1], &low[1]);
			if (element(i, lane) < to.depth) {
				const int word = element(i, lane) / 2;
				words[word] = high[0] | (uint32_t)high[1] << 16;
				words[to.depth / 2 + word] = low[0] | (uint32_t)low[1] << 16;
			}
		}
		if (lane == 0)
			words[to.depth] = __float_as_uint(half_factor(exponent[v]));
	}
}

/* One operand, a, k x n, or the transpose of n x k, k at most 32 MINE, and its number of blocks of
 * threads. */
struct part {
	const float *a;
	int64_t lda, blocks;
	int k;
	bool transposed;
	struct target to;
};

template <int MINE> __device__ void down(const struct part &p, int64_t block)
{
	const int64_t j = block * WARPS + threadIdx.x / 32;
	const int lane = threadIdx.x % 32;
	float x[1][MINE];
	if (j >= p.to.columns)
		return;
#pragma unroll
	for (int i = 0; i < MINE; i++)
		x[0][i] = element(i, lane) < p.k ? p.a[element(i, lane) + j * p.lda] : 0;
	put<MINE, 1>(p.to, j, 1, lane, x);
}

/* Through shared memory, so that both sides are accessed along their columns. */
template <int MINE>
__device__ void across(const struct part &p, int64_t block, float (*tile)[VECTORS + 1])
{
	const int COLUMNS = 32 * MINE / WARPS;
	const int64_t first = block * VECTORS;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int64_t row = first + lane;
	float loaded[COLUMNS], x[EACH][MINE];
#pragma unroll
	for (int i = 0; i < COLUMNS; i++) {
		const int j = warp + WARPS * i;
		loaded[i] = j < p.k && row < p.to.columns ? p.a[row + j * p.lda] : 0;
	}
#pragma unroll
	for (int i = 0; i < COLUMNS; i++)
		tile[warp + WARPS * i][lane] = loaded[i];
	__syncthreads();
#pragma unroll
	for (int v = 0; v < EACH; v++)
#pragma unroll
		for (int i = 0; i < MINE; i++)
			x[v][i] = tile[element(i, lane)][warp + WARPS * v];
	put<MINE, EACH>(p.to, first + warp, WARPS, lane, x);
}

template <int MINE>
__global__ void __launch_bounds__(THREADS) pair_kernel(const parts<struct part> parts)
{
	__shared__ float tile[32 * MINE][VECTORS + 1];
	const bool second = blockIdx.x >= parts.first.blocks;
	const struct part part = second ? parts.second : parts.first;
	const int64_t block = blockIdx.x - (second ? parts.first.blocks : 0);
	early_begin();
	if (part.transposed)
		across<MINE>(part, block, tile);
	else
		down<MINE>(part, block);
}

struct part part_of(const struct splitting &s)
{
	const bool transposed = s.trans == TRANSPOSED;
	const int64_t each = transposed ? VECTORS : WARPS;
	const struct target to = {
	        (uint32_t *)matrix_address(s.to), s.to.ld, s.to.n, (int)half_depth(s.to.m)};
	const struct part part = {(const float *)matrix_address(s.a), s.a.ld,
	        (s.to.n + each - 1) / each, (int)(transposed ? s.a.n : s.a.m), transposed, to};
	return part;
}

} // namespace

extern "C" int half_pair(const struct splits *splits, void *stream)
{
	const parts<struct part> parts = parts_of(splits, part_of);
	const int64_t blocks = parts.blocks();
	const int k = parts.first.k > parts.second.k ? parts.first.k : parts.second.k;
	if (blocks == 0)
		return (int)cudaSuccess;
	return (int)early_launch(k <= 64    ? pair_kernel<2>
	                         : k <= 128 ? pair_kernel<4>
	                                    : pair_kernel<TF32_PIECE / 32>,
	        blocks, THREADS, 0, parts, stream);
}
