/* SPDX-License-Identifier: MIT */
/* Row exchanges and the solve with a unit lower triangle, in one pass over the columns beside an LU
 * panel of a matrix that lies by rows, as its transpose: what an exchange moves lies together then.
 * A warp has COLUMNS of them, all of whose top rows are in its registers, lane l rows l, 32 + l,
 * ...: they come from where the exchanges take them from, and what they displace goes where it
 * belongs. Then 16 rows at a time are multiplied by the inverse of their diagonal block, or solved
 * for by substitution where that has grown, and taken out of the rows below; the triangle's columns
 * arrive in shared memory, 16 at a time, while those before are worked with.
 *
 * Cost of a column: 2 w words read and written, w^2/2 multiply-adds; of a block the w exchanges,
 * one after another, and w/16 barriers. */
#include "block_kernels.h"

#include <cuda_pipeline_primitives.h>

namespace
{

const int THREADS = 256, WARPS = THREADS / 32;
const int STEP = 16;  /* rows solved for at a time */
const int FEW = 4096; /* columns that are shared out more finely */

/* An inverse with larger elements is not used. Those of what partial pivoting leaves are below 4.
 */
const float LARGEST = 16;

template <typename T> struct rows_call {
	const T *l; /* NULL: exchanges alone */
	int64_t ldl;
	T *c; /* element (i,j) at c + j + i ldc */
	int64_t ldc, rows, columns;
	const int *ipiv;
	int w;
	bool vector; /* columns that are a multiple of COLUMNS are aligned to 16 bytes */
};

template <typename T, int BLOCKS, int COLUMNS> struct room {
	T l[2][STEP][32 * BLOCKS];         /* by columns */
	T inverse[2 * BLOCKS][STEP][STEP]; /* by columns */
	__align__(16) T x[WARPS][STEP][COLUMNS];
	int from[32 * BLOCKS];   /* of the top rows */
	int out[2][32 * BLOCKS]; /* displaced ones: from, to */
	int displaced;
	bool grown[2 * BLOCKS];
	int pivot[32 * BLOCKS];
};

/* ---- exchanges ---- */

/* Composes them: of a thread's exchanges, the rows of the top and those that its pivots name. */
template <class R, typename T>
__device__ __forceinline__ void compose(R *s, const struct rows_call<T> &call)
{
	const int w = call.w;
	if (threadIdx.x == 0)
		s->displaced = 0;
	for (int t = threadIdx.x; t < w; t += THREADS) {
		const int64_t p = (int64_t)call.ipiv[t] - 1;
		s->pivot[t] = p >= t && p < call.rows ? (int)p : t;
	}
	__syncthreads();
	for (int t = threadIdx.x; t < w; t += THREADS) {
		const int to = s->pivot[t];
		int top = t, other = to;
		bool first = to >= w; /* outside, and no earlier pivot has the same row */
#pragma unroll 8
		for (int i = w - 1; i >= 0; i--) {
			const int p = s->pivot[i];
			top = top == i ? p : top == p ? i : top;
			other = other == i ? p : other == p ? i : other;
			first &= i >= t || p != to;
		}
		s->from[t] = top;
		if (first) {
			const int slot = atomicAdd(&s->displaced, 1);
			s->out[0][slot] = other;
			s->out[1][slot] = to;
		}
	}
}

/* ---- inverses of diagonal blocks ---- */

/* By half a warp each, a column a thread. */
template <class R, typename T, int BLOCKS>
__device__ __forceinline__ void invert(R *s, const struct rows_call<T> &call)
{
	const int lane = threadIdx.x % STEP;
	for (int b = threadIdx.x / STEP; b < 2 * BLOCKS; b += THREADS / STEP) {
		T(*tile)[STEP] = s->inverse[b], x[STEP];
		T largest = 0;
#pragma unroll
		for (int k = 0; k < STEP; k++) {
			const int i = b * STEP + lane, j = b * STEP + k;
			tile[k][lane] = lane > k && i < call.w ? call.l[i + j * call.ldl] : T(0);
		}
		__syncwarp();
#pragma unroll
		for (int i = 0; i < STEP; i++) {
			T sum = i == lane ? T(1) : T(0);
#pragma unroll
			for (int k = 0; k < i; k++)
				sum -= tile[k][i] * x[k];
			x[i] = sum;
			largest = fabs(sum) <= largest ? largest : fabs(sum); /* NaN stays */
		}
		__syncwarp();
#pragma unroll
		for (int i = 0; i < STEP; i++)
			tile[lane][i] = x[i];
#pragma unroll
		for (int d = STEP / 2; d > 0; d /= 2) {
			const T y = __shfl_xor_sync(0xffffffff, largest, d);
			largest = y <= largest ? largest : y;
		}
		if (lane == 0)
			s->grown[b] = !(largest <= T(LARGEST));
	}
}

/* ---- the solve ---- */

/* Starts columns STEP step .. of the triangle on their way, its rows from `row` on. */
template <class R, typename T, int BLOCKS>
__device__ __forceinline__ void fetch(R *s, const struct rows_call<T> &call, int step, int row)
{
	if (step < 2 * BLOCKS) {
#pragma unroll
		for (int k = threadIdx.x / 32; k < STEP; k += WARPS) {
			const int j = step * STEP + k;
			for (int i = row + threadIdx.x % 32; i < 32 * BLOCKS; i += 32) {
				const bool inside = i < call.w && j < i;
				__pipeline_memcpy_async(&s->l[step % 2][k][i],
				        inside ? call.l + i + j * call.ldl : call.l, sizeof(T),
				        inside ? 0 : sizeof(T));
			}
		}
	}
	__pipeline_commit();
}

/* y -= t x for rows of a column of the triangle; x are the values of its row. */
template <typename T, int COLUMNS>
__device__ __forceinline__ void take(T (&y)[COLUMNS], T t, const T (&x)[COLUMNS])
{
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		y[c] -= t * x[c];
}

template <typename T, int COLUMNS>
__device__ __forceinline__ void get(T (&x)[COLUMNS], const T *from)
{
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		x[c] = from[c];
}

/* The rows `half` of the block x become the solution, which is in `shared`, too. l: the columns of
 * the triangle, from the block's row on. */
template <typename T, int COLUMNS>
__device__ __forceinline__ void solve(const T (*inverse)[STEP], bool grown, const T *l, int pitch,
        int half, T (&x)[COLUMNS], T (*shared)[COLUMNS])
{
	const int lane = threadIdx.x % 32, row = lane % STEP;
	const bool mine = lane / STEP == half;
	if (grown) {
		for (int k = 0; k < STEP - 1; k++) {
			const T t = l[k * pitch + lane];
#pragma unroll
			for (int c = 0; c < COLUMNS; c++) {
				const T solved = __shfl_sync(0xffffffff, x[c], half * STEP + k);
				if (mine && row > k)
					x[c] -= t * solved;
			}
		}
	} else {
		T sum[COLUMNS] = {};
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			if (mine)
				shared[row][c] = x[c];
		__syncwarp();
#pragma unroll 4
		for (int k = 0; k < STEP; k++) {
			T y[COLUMNS];
			get(y, shared[k]);
			if (row >= k) /* not 0 times NaN */
				take(sum, -inverse[k][row], y);
		}
		__syncwarp();
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			x[c] = mine ? sum[c] : x[c];
	}
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		if (mine)
			shared[row][c] = x[c];
	__syncwarp();
}

/* ---- rows of C ---- */

/* COLUMNS elements that lie together, of which the first `count` are there. */
template <typename T, int COLUMNS>
__device__ __forceinline__ void load(T (&x)[COLUMNS], const T *from, int count, bool vector)
{
	const int words = COLUMNS * (int)sizeof(T) / 16;
	if (vector && count == COLUMNS) {
		int4 piece[words];
#pragma unroll
		for (int i = 0; i < words; i++)
			piece[i] = ((const int4 *)from)[i];
		memcpy(x, piece, sizeof x);
		return;
	}
#pragma unroll
	for (int q = 0; q < COLUMNS; q++)
		x[q] = q < count ? from[q] : T(0);
}

template <typename T, int COLUMNS>
__device__ __forceinline__ void store(T *to, const T (&x)[COLUMNS], int count, bool vector)
{
	const int words = COLUMNS * (int)sizeof(T) / 16;
	if (vector && count == COLUMNS) {
		int4 piece[words];
		memcpy(piece, x, sizeof x);
#pragma unroll
		for (int i = 0; i < words; i++)
			((int4 *)to)[i] = piece[i];
		return;
	}
#pragma unroll
	for (int q = 0; q < COLUMNS; q++)
		if (q < count)
			to[q] = x[q];
}

/* The top rows as the exchanges leave them; the displaced ones go to their places. */
template <class R, typename T, int BLOCKS, int COLUMNS>
__device__ __forceinline__ void exchange(
        const R *s, const struct rows_call<T> &call, T *c, int mine, T (&x)[BLOCKS][COLUMNS])
{
	const int lane = threadIdx.x % 32;
#pragma unroll
	for (int b = 0; b < BLOCKS; b++) {
		const int i = 32 * b + lane, from = i < call.w ? s->from[i] : 0;
		load(x[b], c + from * call.ldc, i < call.w ? mine : 0, call.vector);
	}
	__syncwarp(); /* all is read */
#pragma unroll 2
	for (int e = lane; e < s->displaced; e += 32) {
		T value[COLUMNS];
		load(value, c + s->out[0][e] * call.ldc, mine, call.vector);
		store(c + s->out[1][e] * call.ldc, value, mine, call.vector);
	}
	__syncwarp();
}

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
__global__ void __launch_bounds__(THREADS) lu_rows_kernel(const struct rows_call<T> call)
{
	typedef room<T, BLOCKS, COLUMNS> R;
	extern __shared__ __align__(16) unsigned char memory[];
	R *s = (R *)memory;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int64_t j0 = ((int64_t)blockIdx.x * WARPS + warp) * COLUMNS;
	const int64_t left = call.columns - j0;
	const int mine = left < 0 ? 0 : left < COLUMNS ? (int)left : COLUMNS;
	T *c = call.c + j0, x[BLOCKS][COLUMNS];

	if (SOLVES) {
		fetch<R, T, BLOCKS>(s, call, 0, 0);
		invert<R, T, BLOCKS>(s, call);
	}
	compose(s, call);
	__syncthreads();
	exchange(s, call, c, mine, x);
#pragma unroll
	for (int b = 0; b < (SOLVES ? BLOCKS : 0); b++) {
#pragma unroll 1
		for (int half = 0; half < 2; half++) {
			const int step = 2 * b + half;
			const T(*l)[32 * BLOCKS] = s->l[step % 2];
			__pipeline_wait_prior(0);
			__syncthreads(); /* the columns are there, the others are free */
			fetch<R, T, BLOCKS>(s, call, step + 1, (step + 1) / 2 * 32);
			solve(s->inverse[step], s->grown[step], &l[0][32 * b], 32 * BLOCKS, half,
			        x[b], s->x[warp]);
#pragma unroll 2
			for (int k = 0; k < STEP; k++) {
				T y[COLUMNS];
				get(y, s->x[warp][k]);
				if (half == 0 && lane >= STEP)
					take(x[b], l[k][32 * b + lane], y);
#pragma unroll
				for (int d = b + 1; d < BLOCKS; d++)
					take(x[d], l[k][32 * d + lane], y);
			}
			__syncwarp();
		}
	}
#pragma unroll
	for (int b = 0; b < BLOCKS; b++)
		if (32 * b + lane < call.w)
			store(c + (32 * b + lane) * call.ldc, x[b], mine, call.vector);
}

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
int start(const struct rows_call<T> &call, cudaStream_t stream)
{
	const int bytes = (int)sizeof(room<T, BLOCKS, COLUMNS>);
	const int64_t side = WARPS * COLUMNS, blocks = (call.columns + side - 1) / side;
	const auto kernel = lu_rows_kernel<T, BLOCKS, COLUMNS, SOLVES>;
	const int error =
	        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	if (error)
		return error;
	kernel<<<(unsigned)blocks, THREADS, (size_t)bytes, stream>>>(call);
	return (int)cudaGetLastError();
}

template <typename T, int COLUMNS, bool SOLVES>
int start_width(const struct rows_call<T> &call, cudaStream_t stream)
{
	return call.w <= 64    ? start<T, 2, COLUMNS, SOLVES>(call, stream)
	       : call.w <= 128 ? start<T, 4, COLUMNS, SOLVES>(call, stream)
	                       : start<T, 8, COLUMNS, SOLVES>(call, stream);
}

/* Of all widths but the largest a warp takes WIDE columns where there are many, else NARROW, for
 * which more multiprocessors work. */
template <typename T, int WIDE, int NARROW, bool SOLVES>
int run(struct matrix a, struct pivots p, struct matrix c, cudaStream_t stream)
{
	const struct rows_call<T> call = {
		SOLVES ? (const T *)a.data + a.offset : NULL, a.ld,
		        (T *)c.data + c.offset, c.ld, c.n, c.m, p.data, (int)p.n,
		        (uintptr_t)matrix_address(c) % 16 == 0 && c.ld * sizeof(T) % 16 == 0
	};
	if (c.m == 0 || p.n == 0)
		return (int)cudaSuccess;
	if (call.w > 256)
		return start<T, 16, NARROW, SOLVES>(call, stream);
	return SOLVES && c.m <= FEW ? start_width<T, NARROW, SOLVES>(call, stream)
	                            : start_width<T, WIDE, SOLVES>(call, stream);
}

} // namespace

extern "C" int block_lu_rows(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	const cudaStream_t s = (cudaStream_t)stream;
	if (a.n == 0)
		return c.precision == SINGLE ? run<float, 8, 4, false>(a, p, c, s)
		                             : run<double, 4, 2, false>(a, p, c, s);
	return c.precision == SINGLE ? run<float, 8, 4, true>(a, p, c, s)
	                             : run<double, 4, 2, true>(a, p, c, s);
}
