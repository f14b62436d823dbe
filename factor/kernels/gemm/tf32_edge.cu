/* SPDX-License-Identifier: MIT */
/* The rows of C that cuBLAS's tensor-core kernels leave over. The right operand is read once, from
 * L2, where the main product has just used it. A warp has COLUMNS columns of C, with all rows' sums
 * in registers.
 *
 * Cost: a launch and the right operand through L2. */
#include "lib/device/reduce.cuh"
#include "tf32.h"

namespace
{

const int ROWS = TF32_ROWS - 1;
const int COLUMNS = 4;
const int THREADS = 256;
const int WARP = 32;
const int VECTOR = 4;

struct edge {
	const float *a, *b;
	float *c;
	int64_t lda, ldb, ldc, n;
	int m, k;
	float alpha, beta;
};

/* Rows and columns past the last one are clamped to it. */
__device__ float4 operand(const float *data, int64_t ld, int64_t column, int64_t columns, int i)
{
	const int64_t last = columns - 1;
	return *(const float4 *)(data + (column < last ? column : last) * ld + i);
}

__device__ float dot(float sum, float4 x, float4 y)
{
	sum = fmaf(x.x, y.x, sum);
	sum = fmaf(x.y, y.y, sum);
	sum = fmaf(x.z, y.z, sum);
	return fmaf(x.w, y.w, sum);
}

__global__ void __launch_bounds__(THREADS) edge_kernel(const struct edge e)
{
	const int lane = threadIdx.x % WARP;
	const int64_t warp = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
	const int64_t j0 = warp * COLUMNS;
	float sum[ROWS][COLUMNS] = {}, mine = 0;
	if (j0 >= e.n)
		return;
	for (int i = VECTOR * lane; i < e.k; i += VECTOR * WARP) {
		float4 x[ROWS], y[COLUMNS];
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			x[r] = operand(e.a, e.lda, r, e.m, i);
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			y[c] = operand(e.b, e.ldb, j0 + c, e.n, i);
#pragma unroll
		for (int r = 0; r < ROWS; r++)
#pragma unroll
			for (int c = 0; c < COLUMNS; c++)
				sum[r][c] = dot(sum[r][c], x[r], y[c]);
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++)
#pragma unroll
		for (int c = 0; c < COLUMNS; c++) {
			const float total = warp_sum(sum[r][c]);
			if (lane == r + c * ROWS)
				mine = total;
		}
	const int row = lane % ROWS, column = lane / ROWS;
	if (row >= e.m || column >= COLUMNS || j0 + column >= e.n)
		return;
	float *to = e.c + row + (j0 + column) * e.ldc;
	*to = e.alpha * mine + (e.beta == 0 ? 0 : e.beta * *to);
}

} // namespace

extern "C" int tf32_edge(
        double alpha, struct matrix a, struct matrix b, double beta, struct matrix c, void *stream)
{
	const struct edge edge = {(const float *)matrix_address(a),
	        (const float *)matrix_address(b), (float *)matrix_address(c), a.ld, b.ld, c.ld, c.n,
	        (int)c.m, (int)a.m, (float)alpha, (float)beta};
	const int64_t each = THREADS / WARP * COLUMNS, blocks = (c.n + each - 1) / each;
	if (c.m == 0 || c.n == 0)
		return (int)cudaSuccess;
	edge_kernel<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(edge);
	return (int)cudaGetLastError();
}
