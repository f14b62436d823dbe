/* SPDX-License-Identifier: MIT */
/* Splits operands for 3xFP16. Cost: a word read and one written. A warp has a whole vector along
 * the inner dimension, whose largest element it must know first. */
#include "half_pair.h"
#include "tf32.h"

namespace
{

const int THREADS = 256, WARPS = THREADS / 32;
const int MINE = TF32_PIECE / 32; /* elements of a lane, 32 apart */
const int VECTORS = 32;           /* of a block where they lie across */

struct target {
	float *data;
	int64_t ld, columns;
	int depth; /* of each part */
};

/* A lane's elements from `lane` on, zeros beyond the vector's end. */
__device__ __forceinline__ void put(
        const struct target &to, int64_t column, int lane, const float (&x)[MINE])
{
	float largest = 0;
#pragma unroll
	for (int i = 0; i < MINE; i++)
		largest = fmaxf(largest, fabsf(x[i])); /* of a NaN the other one */
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
	const int exponent = half_exponent(largest);
	float *words = to.data + column * to.ld;
	uint16_t *parts = (uint16_t *)words;
#pragma unroll
	for (int i = 0; i < MINE; i++) {
		const int at = 32 * i + lane;
		uint16_t high, low;
		half_split(x[i], exponent, &high, &low);
		if (at < to.depth) {
			parts[at] = high;
			parts[to.depth + at] = low;
		}
	}
	if (lane == 0)
		words[to.depth] = half_factor(exponent);
}

/* Of a, k x n. */
__global__ void __launch_bounds__(THREADS)
        down_kernel(const float *__restrict__ a, int64_t lda, int k, const struct target to)
{
	const int64_t j = blockIdx.x * (int64_t)WARPS + threadIdx.x / 32;
	const int lane = threadIdx.x % 32;
	float x[MINE];
	if (j >= to.columns)
		return;
#pragma unroll
	for (int i = 0; i < MINE; i++)
		x[i] = 32 * i + lane < k ? a[32 * i + lane + j * lda] : 0;
	put(to, j, lane, x);
}

/* Of the transpose of a, n x k, through shared memory: both sides are accessed along their columns.
 */
__global__ void __launch_bounds__(THREADS)
        across_kernel(const float *__restrict__ a, int64_t lda, int k, const struct target to)
{
	__shared__ float tile[TF32_PIECE][VECTORS + 1];
	const int64_t first = blockIdx.x * (int64_t)VECTORS;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int64_t row = first + lane;
	const int COLUMNS = TF32_PIECE / WARPS;
#pragma unroll 16
	for (int i = 0; i < COLUMNS; i++) {
		const int j = warp + WARPS * i;
		tile[j][lane] = j < k && row < to.columns ? a[row + j * lda] : 0;
	}
	__syncthreads();
	for (int v = warp; v < VECTORS && first + v < to.columns; v += WARPS) {
		float x[MINE];
#pragma unroll
		for (int i = 0; i < MINE; i++)
			x[i] = tile[32 * i + lane][v];
		put(to, first + v, lane, x);
	}
}

} // namespace

extern "C" int half_pair(struct matrix a, enum trans trans, struct matrix to, void *stream)
{
	const struct target target = {
	        (float *)to.data + to.offset, to.ld, to.n, (int)half_depth(to.m)};
	const float *data = (const float *)a.data + a.offset;
	const int k = (int)(trans == PLAIN ? a.m : a.n), each = trans == PLAIN ? WARPS : VECTORS;
	const unsigned blocks = (unsigned)((to.n + each - 1) / each);
	if (blocks == 0)
		return (int)cudaSuccess;
	if (trans == PLAIN)
		down_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(data, a.ld, k, target);
	else
		across_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(data, a.ld, k, target);
	return (int)cudaGetLastError();
}
