/* SPDX-License-Identifier: MIT */
/* The vector-thread matrix products of Volkov and Demmel, LAPACK Working Note 202, Figure 4: a
 * block of 64 threads is a vector thread of length 64 with a 64 x 16 block of C in registers, one
 * row a thread; four values of A a thread are in registers, and B passes through shared memory in
 * blocks of 16 x 16 (A B; padded against bank conflicts) or 4 x 16 (A B^T), which every
 * multiply-add takes its second operand from. Their code wants multiples of the blocks; here rows
 * and columns beyond the edge repeat the last one and are not stored, and the rest of k is added
 * from memory directly, so that the inner loops are as theirs.
 *
 * Cost: m n k / 1024 turns of 16 multiply-adds for each of two warps; A and B are fetched
 * m n k (1/16 + 1/64) words in all, 25.6 times less than without blocks (model/vector_gemm.h). */
#include "gemm_volkov.h"

#include <cuda_runtime_api.h>

namespace
{

const int ROWS = 64, COLUMNS = 16; /* of a block of C; a thread has one of the rows */
const int SLICE = 4;               /* columns of A that a thread holds */
const int DEPTH = 16;              /* rows of B in shared memory, A B */
const int RESIDENT = 12; /* blocks an SM shall hold: 80 registers a thread, none spilled */

/* What one thread works on. Element (l, j) of op(B) is b[l * step_l + j * step_j]. */
struct place {
	int64_t row, column; /* of C */
	const float *a;      /* the thread's row, never beyond the last */
	int64_t step_l, step_j;
};

__device__ __forceinline__ place find_place(const volkov_call &p)
{
	const int64_t row_blocks = (p.m + ROWS - 1) / ROWS;
	place at;
	at.row = blockIdx.x % row_blocks * ROWS + threadIdx.x;
	at.column = blockIdx.x / row_blocks * COLUMNS;
	at.a = p.a + min(at.row, p.m - 1);
	at.step_l = p.tb ? p.ldb : 1;
	at.step_j = p.tb ? 1 : p.ldb;
	return at;
}

/* What is at the pointer; or, to see what fetches cost, the pointer itself. */
template <int WITHOUT> __device__ __forceinline__ float fetch(const float *from)
{
	return WITHOUT == VOLKOV_NO_FETCH ? __uint_as_float((unsigned)(uintptr_t)from) : *from;
}

/* The next SLICE columns of A. */
template <int WITHOUT>
__device__ __forceinline__ void fetch_slice(const float *&a, int64_t lda, float slice[SLICE])
{
#pragma unroll
	for (int l = 0; l < SLICE; l++, a += lda)
		slice[l] = fetch<WITHOUT>(a);
}

template <int PITCH>
__device__ __forceinline__ void multiply(
        const float slice[SLICE], const float (*b)[PITCH], float sum[COLUMNS])
{
#pragma unroll
	for (int l = 0; l < SLICE; l++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			sum[j] += slice[l] * b[l][j];
}

/* The last columns of A, which fill no block. */
__device__ __forceinline__ void multiply_rest(
        const volkov_call &p, const place &at, int64_t first, float sum[COLUMNS])
{
	for (int64_t l = first; l < p.k; l++) {
		const float x = at.a[l * p.lda];
#pragma unroll
		for (int j = 0; j < COLUMNS; j++)
			sum[j] += x * p.b[l * at.step_l + min(at.column + j, p.n - 1) * at.step_j];
	}
}

__device__ __forceinline__ void merge(
        const volkov_call &p, const place &at, const float sum[COLUMNS])
{
	if (at.row >= p.m)
		return;
#pragma unroll
	for (int j = 0; j < COLUMNS; j++) {
		if (at.column + j >= p.n)
			return;
		float *c = p.c + at.row + (at.column + j) * p.ldc;
		*c = p.beta == 0 ? p.alpha * sum[j] : p.alpha * sum[j] + p.beta * *c;
	}
}

/* C = alpha A B + beta C */
template <int WITHOUT>
__global__ void __launch_bounds__(ROWS, RESIDENT) ab_kernel(const __grid_constant__ volkov_call p)
{
	__shared__ float b[DEPTH][COLUMNS + 1];
	const place at = find_place(p);
	const int row = threadIdx.x % DEPTH, column = threadIdx.x / DEPTH;
	const int step = ROWS / DEPTH; /* columns of B that the threads fetch at once */
	const int fetches = COLUMNS / step;
	const float *a = at.a, *from[fetches];
	float sum[COLUMNS] = {}, slice[SLICE];
#pragma unroll
	for (int i = 0; i < fetches; i++)
		from[i] = p.b + row + min(at.column + column + i * step, p.n - 1) * p.ldb;

	const int turns = (int)(p.k / DEPTH);
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
	multiply_rest(p, at, (int64_t)turns * DEPTH, sum);
	merge(p, at, sum);
}

/* C = alpha A B^T + beta C */
template <int WITHOUT>
__global__ void __launch_bounds__(ROWS, RESIDENT) abt_kernel(const __grid_constant__ volkov_call p)
{
	__shared__ __align__(16) float b[SLICE][COLUMNS];
	const place at = find_place(p);
	const int row = threadIdx.x / COLUMNS, column = threadIdx.x % COLUMNS;
	const float *a = at.a, *from = p.b + min(at.column + column, p.n - 1) + row * p.ldb;
	float sum[COLUMNS] = {}, slice[SLICE], next[SLICE], next_b = 0;

	const int turns = (int)(p.k / SLICE);
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
	multiply_rest(p, at, (int64_t)turns * SLICE, sum);
	merge(p, at, sum);
}

typedef void (*kernel)(volkov_call);

template <int WITHOUT> kernel kernel_of(bool tb)
{
	return tb ? abt_kernel<WITHOUT> : ab_kernel<WITHOUT>;
}

} // namespace

extern "C" int gemm_volkov(const struct volkov_call *call, void *stream)
{
	static const kernel ways[VOLKOV_WAYS][2] = {
	        {kernel_of<VOLKOV_COMPLETE>(false), kernel_of<VOLKOV_COMPLETE>(true)},
	        {kernel_of<VOLKOV_NO_FETCH>(false), kernel_of<VOLKOV_NO_FETCH>(true)},
	        {kernel_of<VOLKOV_NO_PREFETCH>(false), kernel_of<VOLKOV_NO_PREFETCH>(true)}};
	struct volkov_call p = *call;
	const int64_t blocks = (p.m + ROWS - 1) / ROWS * ((p.n + COLUMNS - 1) / COLUMNS);
	if (blocks == 0)
		return (int)cudaSuccess;
	if (blocks > INT32_MAX || p.k > INT32_MAX)
		return (int)cudaErrorInvalidValue;
	if (p.alpha == 0) /* nothing of A and B is read */
		p.k = 0;
	ways[p.without][p.tb]<<<(unsigned)blocks, ROWS, 0, (cudaStream_t)stream>>>(p);
	return (int)cudaGetLastError();
}
