/* SPDX-License-Identifier: MIT */
/* The vector-thread matrix products of Volkov and Demmel (LAPACK Working Note 202, Figure 4). A
 * block of 64 threads holds a 64 x 16 block of C in registers, one row and four values of A per
 * thread. B passes through shared memory in blocks of 16 x 16 (A B; padded against bank
 * conflicts) or 4 x 16 (A B^T). Their code needs multiples of the blocks. Here rows and columns
 * beyond the edge repeat the last one and are not stored, and the rest of k is added from global
 * memory, so the inner loops stay as published.
 *
 * Block triangles and splits of k change where a block starts in C and which part of k it sums.
 *
 * Cost: m n k / 1024 turns of 16 multiply-adds for each of two warps; m n k (1/16 + 1/64) words of
 * A and B, 25.6 times less than without blocks (factor/model/cost/vector_gemm.h); each split writes
 * and reads m n words. */
#include "gemm_volkov.h"

#include "factor/kernels/blocks/fold_triangle.h"
#include "lib/device/launch_bounds.cuh"

#include <cuda_runtime_api.h>

namespace
{

const int ROWS = 64, COLUMNS = 16; /* of a block of C; one row per thread */
const int SLICE = 4;               /* columns of A that a thread holds */
const int DEPTH = 16;              /* rows of B in shared memory, A B */
const int RESIDENT = 12;           /* blocks per SM: 80 registers a thread, without spills */

/* The work of one thread. Element (l, j) of op(B) is b[l * step_l + j * step_j]. */
struct place {
	int64_t row, column; /* in C */
	int first;           /* in k */
	int64_t end;         /* end of the range in k */
	const float *a;      /* the thread's row, clamped to the last one */
	int64_t step_l, step_j;
};

/* Block rows and columns of C, without columns outside its lower triangle. */
__host__ DEVICE int64_t row_blocks(const volkov_call &p)
{
	return (p.m + ROWS - 1) / ROWS;
}

__host__ DEVICE int64_t column_blocks(const volkov_call &p)
{
	return ((p.shape == VOLKOV_C_FOLDED ? min(p.m, p.n) : p.n) + COLUMNS - 1) / COLUMNS;
}

/* The position of this block in a folded triangle. */
DEVICE void unfold(const volkov_call &p, place &at)
{
	const fold_block block =
	        fold_block_at((int)blockIdx.x, (int)row_blocks(p), (int)column_blocks(p));
	at.row = (int64_t)block.row * ROWS + threadIdx.x;
	at.column = (int64_t)block.column * COLUMNS;
}

/* The differences for block triangles and splits of k. */
DEVICE void adjust(const volkov_call &p, place &at)
{
	if (p.shape == VOLKOV_C_FOLDED)
		unfold(p, at);
	const int64_t row = at.row - threadIdx.x; /* the block's first row */
	switch (p.shape) {
	case VOLKOV_C_FOLDED:
	case VOLKOV_C_EXIT:
		break;
	case VOLKOV_A_LOWER:
		at.end = min(p.k, row + ROWS);
		break;
	case VOLKOV_A_UPPER:
		at.first = (int)min(p.k, row);
		break;
	case VOLKOV_B_LOWER:
		at.first = (int)min(p.k, at.column);
		break;
	case VOLKOV_B_UPPER:
		at.end = min(p.k, at.column + COLUMNS);
		break;
	default:
		const int64_t parts = (p.k + DEPTH - 1) / DEPTH;
		at.first = (int)(parts * blockIdx.y / gridDim.y * DEPTH);
		at.end = min(p.k, parts * (blockIdx.y + 1) / gridDim.y * DEPTH);
	}
}

/* WHOLE: full matrices and all of k. */
template <bool WHOLE> DEVICE place find_place(const volkov_call &p)
{
	place at;
	at.row = blockIdx.x % row_blocks(p) * ROWS + threadIdx.x;
	at.column = blockIdx.x / row_blocks(p) * COLUMNS;
	at.first = 0;
	at.end = p.k;
	if (!WHOLE)
		adjust(p, at);
	at.a = p.a + min(at.row, p.m - 1);
	at.step_l = p.tb ? p.ldb : 1;
	at.step_j = p.tb ? 1 : p.ldb;
	return at;
}

/* Whether the whole block is above the diagonal. */
DEVICE bool is_above(const volkov_call &p, const place &at)
{
	return p.shape == VOLKOV_C_EXIT && at.column >= min(p.m, at.row - threadIdx.x + ROWS);
}

/* The value at the pointer; without fetches the pointer itself, to measure the cost of fetches. */
template <int WITHOUT> DEVICE float fetch(const float *from)
{
	return WITHOUT == VOLKOV_NO_FETCH ? __uint_as_float((unsigned)(uintptr_t)from) : *from;
}

/* The next SLICE columns of A. */
template <int WITHOUT> DEVICE void fetch_slice(const float *&a, int64_t lda, float slice[SLICE])
{
#pragma unroll
	for (int l = 0; l < SLICE; l++, a += lda)
		slice[l] = fetch<WITHOUT>(a);
}

template <int PITCH>
DEVICE void multiply(const float slice[SLICE], const float (*b)[PITCH], float sum[COLUMNS])
{
#pragma unroll
	for (int l = 0; l < SLICE; l++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			sum[j] += slice[l] * b[l][j];
}

/* The last columns of A, which fill no block. */
DEVICE void multiply_rest(const volkov_call &p, const place &at, int64_t first, float sum[COLUMNS])
{
	for (int64_t l = first; l < at.end; l++) {
		const float x = at.a[l * p.lda];
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			sum[j] += x * p.b[l * at.step_l + min(at.column + j, p.n - 1) * at.step_j];
	}
}

/* Up to the diagonal where C is triangular; a part of k has a C of its own. */
template <bool WHOLE>
DEVICE void merge(const volkov_call &p, const place &at, const float sum[COLUMNS])
{
	if (at.row >= p.m)
		return;
	const bool triangle = !WHOLE && (p.shape == VOLKOV_C_FOLDED || p.shape == VOLKOV_C_EXIT);
	const int64_t end = triangle ? min(p.n, at.row + 1) : p.n;
	float *whole = WHOLE ? p.c : p.c + blockIdx.y * p.ldc * p.n;
#pragma unroll
	for (int j = 0; j < COLUMNS; j++) {
		if (at.column + j >= end)
			return;
		float *c = whole + at.row + (at.column + j) * p.ldc;
		*c = p.beta == 0 ? p.alpha * sum[j] : p.alpha * sum[j] + p.beta * *c;
	}
}

/* C = alpha A B + beta C */
template <int WITHOUT, bool WHOLE>
__global__ void __launch_bounds__(ROWS, sm_blocks(ROWS, RESIDENT))
        ab_kernel(const __grid_constant__ volkov_call p)
{
	__shared__ float b[DEPTH][COLUMNS + 1];
	const place at = find_place<WHOLE>(p);
	if (!WHOLE && is_above(p, at))
		return;
	const int row = threadIdx.x % DEPTH, column = threadIdx.x / DEPTH;
	const int step = ROWS / DEPTH; /* columns of B that the threads fetch at once */
	const int fetches = COLUMNS / step;
	const float *a = at.a + at.first * p.lda, *from[fetches];
	float sum[COLUMNS] = {}, slice[SLICE];
#pragma unroll
	for (int i = 0; i < fetches; i++)
		from[i] =
		        p.b + at.first + row + min(at.column + column + i * step, p.n - 1) * p.ldb;

	const int turns = (int)((at.end - at.first) / DEPTH);
	for (int turn = 0; turn < turns; turn++) {
		if (WITHOUT != VOLKOV_NO_PREFETCH)
			fetch_slice<WITHOUT>(a, p.lda, slice);
#pragma unroll
		for (int i = 0; i < fetches; i++, from[i - 1] += DEPTH)
			b[row][column + i * step] = fetch<WITHOUT>(from[i]);
		__syncthreads();
#pragma unroll
		for (int l = 0; l < DEPTH; l += SLICE) {
			if (l > 0 || WITHOUT == VOLKOV_NO_PREFETCH)
				fetch_slice<WITHOUT>(a, p.lda, slice);
			multiply(slice, b + l, sum);
		}
		__syncthreads();
	}
	multiply_rest(p, at, at.first + (int64_t)turns * DEPTH, sum);
	merge<WHOLE>(p, at, sum);
}

/* C = alpha A B^T + beta C */
template <int WITHOUT, bool WHOLE>
__global__ void __launch_bounds__(ROWS, sm_blocks(ROWS, RESIDENT))
        abt_kernel(const __grid_constant__ volkov_call p)
{
	__shared__ __align__(16) float b[SLICE][COLUMNS];
	const place at = find_place<WHOLE>(p);
	if (!WHOLE && is_above(p, at))
		return;
	const int row = threadIdx.x / COLUMNS, column = threadIdx.x % COLUMNS;
	const float *a = at.a + at.first * p.lda;
	const float *from = p.b + min(at.column + column, p.n - 1) + row * p.ldb + at.first * p.ldb;
	float sum[COLUMNS] = {}, slice[SLICE], next[SLICE], next_b = 0;

	const int turns = (int)((at.end - at.first) / SLICE);
	if (turns > 0 && WITHOUT != VOLKOV_NO_PREFETCH) {
		fetch_slice<WITHOUT>(a, p.lda, next);
		next_b = fetch<WITHOUT>(from);
	}
	for (int turn = 0; turn < turns; turn++) {
		if (WITHOUT == VOLKOV_NO_PREFETCH) {
			fetch_slice<WITHOUT>(a, p.lda, next);
			next_b = fetch<WITHOUT>(from);
			from += SLICE * p.ldb;
		}
#pragma unroll
		for (int l = 0; l < SLICE; l++)
			slice[l] = next[l];
		b[row][column] = next_b;
		__syncthreads();
		if (WITHOUT != VOLKOV_NO_PREFETCH && turn + 1 < turns) {
			from += SLICE * p.ldb;
			fetch_slice<WITHOUT>(a, p.lda, next);
			next_b = fetch<WITHOUT>(from);
		}
		multiply(slice, b, sum);
		__syncthreads();
	}
	multiply_rest(p, at, at.first + (int64_t)turns * SLICE, sum);
	merge<WHOLE>(p, at, sum);
}

typedef void (*kernel)(volkov_call);

template <int WITHOUT, bool WHOLE> kernel kernel_of(bool tb)
{
	return tb ? abt_kernel<WITHOUT, WHOLE> : ab_kernel<WITHOUT, WHOLE>;
}

kernel choose_kernel(const volkov_call &p)
{
	if (p.shape != VOLKOV_FULL || p.splits > 1)
		return kernel_of<VOLKOV_COMPLETE, false>(p.tb);
	return p.without == VOLKOV_NO_FETCH      ? kernel_of<VOLKOV_NO_FETCH, true>(p.tb)
	       : p.without == VOLKOV_NO_PREFETCH ? kernel_of<VOLKOV_NO_PREFETCH, true>(p.tb)
	                                         : kernel_of<VOLKOV_COMPLETE, true>(p.tb);
}

/* Each part of k goes to its own part of the work memory; a second kernel adds the parts. */
int launch_split(const volkov_call &p, unsigned blocks, cudaStream_t stream)
{
	volkov_call part = p;
	part.c = p.work;
	part.ldc = p.m;
	part.alpha = 1;
	part.beta = 0;
	choose_kernel(part)<<<dim3(blocks, (unsigned)p.splits), ROWS, 0, stream>>>(part);
	const int error = (int)cudaGetLastError();
	return error ? error : gemm_volkov_sum(&p, stream);
}

} // namespace

extern "C" int gemm_volkov(const struct volkov_call *call, void *stream)
{
	struct volkov_call p = *call;
	const bool plain = p.shape == VOLKOV_FULL && p.splits < 2;
	if (p.m < 1 || p.n < 1)
		return (int)cudaSuccess;
	const int64_t blocks = p.shape == VOLKOV_C_FOLDED
	                               ? fold_count(row_blocks(p), column_blocks(p))
	                               : row_blocks(p) * column_blocks(p);
	if (blocks > INT32_MAX || p.k > INT32_MAX || (p.shape != VOLKOV_FULL && p.splits > 1) ||
	        (p.without != VOLKOV_COMPLETE && !plain))
		return (int)cudaErrorInvalidValue;
	if (p.alpha == 0) /* A and B are not read */
		p.k = 0;
	p.splits = (int)min((int64_t)p.splits, (p.k + DEPTH - 1) / DEPTH);
	if (p.splits > 1)
		return launch_split(p, (unsigned)blocks, (cudaStream_t)stream);
	choose_kernel(p)<<<(unsigned)blocks, ROWS, 0, (cudaStream_t)stream>>>(p);
	return (int)cudaGetLastError();
}
