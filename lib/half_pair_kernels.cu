/* SPDX-License-Identifier: MIT */
/* Splits operands for 3xFP16. Cost: a word read and one written. A warp has a whole vector along
 * the inner dimension, whose largest element it must know first. */
#include "half_pair.h"
#include "tf32.h"

namespace
{

const int THREADS = 256, WARPS = THREADS / 32;
const int VECTORS = 32; /* of a block where they lie across */
const int EACH = VECTORS / WARPS;

struct target {
	uint32_t *data;
	int64_t ld, columns;
	int depth; /* of each part */
};

/* A lane's elements of a vector are pairs, 64 apart. */
__device__ __forceinline__ int element(int i, int lane)
{
	return i / 2 * 64 + 2 * lane + i % 2;
}

/* Of `vectors` vectors from `column` on, `step` apart, a warp's elements, zeros beyond their end.
 */
template <int MINE, int vectors>
__device__ __forceinline__ void put(const struct target &to, int64_t column, int step, int lane,
        const float (&x)[vectors][MINE])
{
	int exponent[vectors];
#pragma unroll
	for (int v = 0; v < vectors; v++) {
		float largest = 0;
#pragma unroll
		for (int i = 0; i < MINE; i++)
			largest = fmaxf(largest, fabsf(x[v][i])); /* of a NaN the other one */
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

/* Of a, k x n, k at most 32 MINE. */
template <int MINE>
__global__ void __launch_bounds__(THREADS)
        down_kernel(const float *__restrict__ a, int64_t lda, int k, const struct target to)
{
	const int64_t j = blockIdx.x * (int64_t)WARPS + threadIdx.x / 32;
	const int lane = threadIdx.x % 32;
	float x[1][MINE];
	if (j >= to.columns)
		return;
#pragma unroll
	for (int i = 0; i < MINE; i++)
		x[0][i] = element(i, lane) < k ? a[element(i, lane) + j * lda] : 0;
	put<MINE, 1>(to, j, 1, lane, x);
}

/* Of the transpose of a, n x k, through shared memory: both sides are accessed along their columns.
 */
template <int MINE>
__global__ void __launch_bounds__(THREADS)
        across_kernel(const float *__restrict__ a, int64_t lda, int k, const struct target to)
{
	const int COLUMNS = 32 * MINE / WARPS;
	__shared__ float tile[32 * MINE][VECTORS + 1];
	const int64_t first = blockIdx.x * (int64_t)VECTORS;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int64_t row = first + lane;
	float loaded[COLUMNS], x[EACH][MINE];
#pragma unroll
	for (int i = 0; i < COLUMNS; i++) {
		const int j = warp + WARPS * i;
		loaded[i] = j < k && row < to.columns ? a[row + j * lda] : 0;
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
	put<MINE, EACH>(to, first + warp, WARPS, lane, x);
}

template <int MINE>
void launch(enum trans trans, const float *data, int64_t lda, int k, const struct target &to,
        cudaStream_t stream)
{
	const int each = trans == PLAIN ? WARPS : VECTORS;
	const unsigned blocks = (unsigned)((to.columns + each - 1) / each);
	if (trans == PLAIN)
		down_kernel<MINE><<<blocks, THREADS, 0, stream>>>(data, lda, k, to);
	else
		across_kernel<MINE><<<blocks, THREADS, 0, stream>>>(data, lda, k, to);
}

} // namespace

extern "C" int half_pair(struct matrix a, enum trans trans, struct matrix to, void *stream)
{
	const struct target target = {
	        (uint32_t *)to.data + to.offset, to.ld, to.n, (int)half_depth(to.m)};
	const float *data = (const float *)a.data + a.offset;
	const int k = (int)(trans == PLAIN ? a.m : a.n);
	if (to.n == 0)
		return (int)cudaSuccess;
	if (k <= 64)
		launch<2>(trans, data, a.ld, k, target, (cudaStream_t)stream);
	else if (k <= 128)
		launch<4>(trans, data, a.ld, k, target, (cudaStream_t)stream);
	else
		launch<TF32_PIECE / 32>(trans, data, a.ld, k, target, (cudaStream_t)stream);
	return (int)cudaGetLastError();
}
