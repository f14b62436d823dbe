/* SPDX-License-Identifier: MIT */
/* Launches of the matrix product: kernel and grid; the sum of split products; and C = beta C where
 * there is no product to add. */
#include "gemm.h"
#include "gemm_launch.cuh"

#include <math.h>

namespace
{

/* Tile rows that share L2: the square root of the running blocks of 128 x 128 tiles. */
int band(void)
{
	return (int)sqrt(2.0 * gpu_current()->sm_count);
}

/* With many parts several threads share them, because memory latencies would add up. */
const int MANY_PARTS = 32, MANY_ROWS = 32, FEW_ROWS = 128, SUM_THREADS = 512;

DEVICE bool inside(enum gemm_part part, int64_t row, int64_t column)
{
	return part == GEMM_WHOLE || (part == GEMM_LOWER ? row >= column : row <= column);
}

/* C = alpha (sum of the parts) + beta C. Without parts only C is accessed. A thread has one row of
 * columns blockIdx.y, blockIdx.y + gridDim.y ... and an equal share of the parts. */
template <typename T>
__global__ void __launch_bounds__(SUM_THREADS) sum_kernel(const T *parts, int splits, int64_t ld,
        T alpha, T beta, T *c, int64_t ldc, int64_t m, int64_t n, enum gemm_part part)
{
	__shared__ T shares[SUM_THREADS];
	const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const int first = splits * (int)threadIdx.y / (int)blockDim.y;
	const int end = splits * ((int)threadIdx.y + 1) / (int)blockDim.y;

	for (int64_t column = blockIdx.y; column < n; column += gridDim.y) {
		const bool there = row < m && inside(part, row, column);
		const T *from = parts + row + column * ld;
		T sum = T(0);
#pragma unroll 8
		for (int s = first; there && s < end; s++)
			sum += from[s * ld * n];
		shares[threadIdx.y * blockDim.x + threadIdx.x] = sum;
		__syncthreads();
		if (there && threadIdx.y == 0) {
			T *to = c + row + column * ldc;
			for (int y = 1; y < (int)blockDim.y; y++)
				sum += shares[y * blockDim.x + threadIdx.x];
			T x = splits ? alpha * sum : T(0);
			if (beta != T(0))
				x += beta * *to;
			*to = x;
		}
		__syncthreads();
	}
}

template <typename T>
int sum_launch(const struct gemm_problem *p, const T *parts, int splits, int64_t ld, double alpha,
        double beta, T *c, cudaStream_t stream)
{
	const bool few = splits < MANY_PARTS;
	const int rows = few ? FEW_ROWS : MANY_ROWS, shares = few ? 1 : SUM_THREADS / MANY_ROWS;
	const dim3 grid(
	        (unsigned)((p->m + rows - 1) / rows), (unsigned)(p->n < 4096 ? p->n : 4096));
	sum_kernel<T><<<grid, dim3(rows, shares), 0, stream>>>(
	        parts, splits, ld, (T)alpha, (T)beta, c, p->ldc, p->m, p->n, p->part);
	return (int)cudaGetLastError();
}

/* Whether 16-byte copies are possible: every column starts at a multiple of 16 bytes. */
template <typename T> bool aligned(const void *data, int64_t ld)
{
	return (uintptr_t)data % 16 == 0 && ld * (int64_t)sizeof(T) % 16 == 0;
}

template <typename T>
int launch(const struct gemm_problem *p, const struct gemm_plan *plan, double alpha, const void *a,
        const void *b, double beta, void *c, void *work, cudaStream_t stream)
{
	if (p->m < 1 || p->n < 1)
		return (int)cudaSuccess;
	if (p->k < 1 || alpha == 0)
		return sum_launch<T>(p, NULL, 0, 0, alpha, beta, (T *)c, stream);

	const int64_t work_ld = (p->m + 3) / 4 * 4;
	const bool vector = (p->ta || aligned<T>(a, p->lda)) && (!p->tb || aligned<T>(b, p->ldb)) &&
	                    aligned<T>(c, p->ldc);
	const int shape = vector ? plan->shape : gemm_unaligned_shape(p, plan->shape);
	const struct gemm_geometry *g = &gemm_geometry[shape];
	/* no empty split */
	const int splits = (int)min((int64_t)plan->splits, (p->k + g->depth - 1) / g->depth);
	gemm_args<T> args;
	args.a = (const T *)a;
	args.b = (const T *)b;
	args.c = splits > 1 ? (T *)work : (T *)c;
	args.lda = p->lda;
	args.ldb = p->ldb;
	args.ldc = splits > 1 ? work_ld : p->ldc;
	args.m = p->m;
	args.n = p->n;
	args.k = p->k;
	args.alpha = splits > 1 ? T(1) : (T)alpha;
	args.beta = splits > 1 ? T(0) : (T)beta;
	args.tiles.rows = (int)((p->m + g->rows - 1) / g->rows);
	args.tiles.columns = (int)((p->n + g->columns - 1) / g->columns);
	args.tiles.band = band() * 128 / g->rows;
	args.tiles.part = p->part;
	args.splits = splits;
	args.shared = plan->shared;
	args.units = gemm_tile_count(args.tiles) * splits;
	args.c_split = work_ld * p->n;
	const int error = gemm_start(shape, p->ta, p->tb, vector, args, stream);
	if (error || splits == 1)
		return error;
	return sum_launch<T>(p, (const T *)work, splits, work_ld, alpha, beta, (T *)c, stream);
}

} // namespace

int gemm_start(
        int shape, bool ta, bool tb, bool vector, gemm_args<float> &args, cudaStream_t stream)
{
	return shape < GEMM_NARROW ? gemm_start_large(shape, ta, tb, vector, args, stream)
	                           : gemm_start_narrow(shape, ta, tb, vector, args, stream);
}

extern "C" int gemm_launch(const struct gemm_problem *problem, const struct gemm_plan *plan,
        double alpha, const void *a, const void *b, double beta, void *c, void *work, void *stream)
{
	if (problem->precision == SINGLE)
		return launch<float>(
		        problem, plan, alpha, a, b, beta, c, work, (cudaStream_t)stream);
	return launch<double>(problem, plan, alpha, a, b, beta, c, work, (cudaStream_t)stream);
}
