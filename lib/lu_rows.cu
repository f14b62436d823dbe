/* SPDX-License-Identifier: MIT */
/* Row exchanges and the solve with a unit lower triangle, in one pass over the columns beside an LU
 * panel of a matrix that lies by rows, as its transpose: what an exchange moves lies together then.
 * A block's columns come from where the exchanges take their rows from, whole lines at a time, into
 * shared memory, and what they displace goes where it belongs. A warp then has COLUMNS of them in
 * its registers, lane l rows l, 32 + l, ...: 16 rows at a time are multiplied by the inverse of
 * their diagonal block, or solved for by substitution where that has grown, and taken out of the
 * rows below; the triangle's columns arrive in shared memory, 16 at a time, while those before are
 * worked with.
 *
 * Cost of a column: 2 w words read and written, and as many of displaced rows, w^2/2 multiply-adds;
 * of a block the w exchanges, one after another, and w/16 barriers. By a warp for its own columns,
 * rows 16 or 32 bytes at a time, each access a line of its own, 256 exchanges alone took 31 us in
 * 64 columns and 97 in 16384, 0.7 TB/s (H200, fp32), and the LU of 16384 88.9 ms instead of 84.8.
 */
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
	static const int SIDE = WARPS * COLUMNS;
	static const int PIECE = 16 / (int)sizeof(T); /* elements of a copy */
	static const int PITCH = SIDE + PIECE;        /* no bank conflicts, by rows or by columns */
	union {
		__align__(16) T tile[32 * BLOCKS][PITCH]; /* the top, before the solve and after */
		struct {
			T l[2][STEP][32 * BLOCKS]; /* by columns */
			__align__(16) T x[WARPS][STEP][COLUMNS];
		} now;
	};
	T inverse[2 * BLOCKS][STEP][STEP]; /* by columns */
	int from[32 * BLOCKS];             /* of the top rows */
	int out[2][32 * BLOCKS];           /* displaced ones: from, to */
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
				__pipeline_memcpy_async(&s->now.l[step % 2][k][i],
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

/* Pieces of rows of a block's columns, a piece a thread at a time: where it is, and how many of its
 * elements there are. */
template <class R> struct piece {
	int row, first, count;
};

template <class R> __device__ __forceinline__ struct piece<R> piece_of(int index, int columns) {
	const int pieces = R::SIDE / R::PIECE, first = index % pieces * R::PIECE;
	return {index / pieces, first, min(max(columns - first, 0), R::PIECE)};
}

/* The top rows as the exchanges leave them come to the tile. */
template <class R, typename T>
__device__ __forceinline__ void fetch_top(
        R *s, const struct rows_call<T> &call, const T *c, int columns)
{
	for (int i = threadIdx.x; i < call.w * (R::SIDE / R::PIECE); i += THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		const T *from = c + s->from[p.row] * call.ldc + p.first;
		T *to = &s->tile[p.row][p.first];
		if (call.vector && p.count == R::PIECE) {
			__pipeline_memcpy_async(to, from, 16);
			continue;
		}
#pragma unroll
		for (int q = 0; q < R::PIECE; q++)
			to[q] = q < p.count ? from[q] : T(0);
	}
	__pipeline_commit();
}

/* A piece from one row to another. */
template <class R, typename T>
__device__ __forceinline__ void copy_piece(T *to, const T *from, int count, bool vector)
{
	if (vector && count == R::PIECE) {
		*(int4 *)to = *(const int4 *)from;
		return;
	}
	for (int q = 0; q < count; q++)
		to[q] = from[q];
}

/* What is displaced, which comes from the top as it still is in memory, goes to its places: those
 * of rows that are in the tile. */
template <class R, typename T>
__device__ __forceinline__ void displace(R *s, const struct rows_call<T> &call, T *c, int columns)
{
	const int pieces = s->displaced * (R::SIDE / R::PIECE);
#pragma unroll 4
	for (int i = threadIdx.x; i < pieces; i += THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		const T *from = c + s->out[0][p.row] * call.ldc + p.first;
		T *to = c + s->out[1][p.row] * call.ldc + p.first;
		copy_piece<R>(to, from, p.count, call.vector);
	}
}

template <class R, typename T>
__device__ __forceinline__ void store_top(R *s, const struct rows_call<T> &call, T *c, int columns)
{
#pragma unroll 4
	for (int i = threadIdx.x; i < call.w * (R::SIDE / R::PIECE); i += THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		copy_piece<R>(c + p.row * call.ldc + p.first, &s->tile[p.row][p.first], p.count,
		        call.vector);
	}
}

/* A lane's part of a row of the tile. */
template <typename T, int COLUMNS> __device__ __forceinline__ void put(T *to, const T (&x)[COLUMNS])
{
#pragma unroll
	for (int q = 0; q < COLUMNS; q++)
		to[q] = x[q];
}

/* The tile's rows become the solution. */
template <typename T, int BLOCKS, int COLUMNS>
__device__ __forceinline__ void solve_tile(
        struct room<T, BLOCKS, COLUMNS> *s, const struct rows_call<T> &call)
{
	typedef struct room<T, BLOCKS, COLUMNS> R;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	T x[BLOCKS][COLUMNS];
#pragma unroll
	for (int b = 0; b < BLOCKS; b++)
		get(x[b], &s->tile[32 * b + lane][warp * COLUMNS]);
	__syncthreads();
	fetch<R, T, BLOCKS>(s, call, 0, 0);
#pragma unroll
	for (int b = 0; b < BLOCKS; b++) {
#pragma unroll 1
		for (int half = 0; half < 2; half++) {
			const int step = 2 * b + half;
			const T(*l)[32 * BLOCKS] = s->now.l[step % 2];
			__pipeline_wait_prior(0);
			__syncthreads(); /* the columns are there, the others are free */
			fetch<R, T, BLOCKS>(s, call, step + 1, (step + 1) / 2 * 32);
			solve(s->inverse[step], s->grown[step], &l[0][32 * b], 32 * BLOCKS, half,
			        x[b], s->now.x[warp]);
#pragma unroll 2
			for (int k = 0; k < STEP; k++) {
				T y[COLUMNS];
				get(y, s->now.x[warp][k]);
				if (half == 0 && lane >= STEP)
					take(x[b], l[k][32 * b + lane], y);
#pragma unroll
				for (int d = b + 1; d < BLOCKS; d++)
					take(x[d], l[k][32 * d + lane], y);
			}
			__syncwarp();
		}
	}
	__syncthreads();
#pragma unroll
	for (int b = 0; b < BLOCKS; b++)
		put(&s->tile[32 * b + lane][warp * COLUMNS], x[b]);
	__syncthreads();
}

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
__global__ void __launch_bounds__(THREADS) lu_rows_kernel(const struct rows_call<T> call)
{
	typedef room<T, BLOCKS, COLUMNS> R;
	extern __shared__ __align__(16) unsigned char memory[];
	R *s = (R *)memory;
	const int64_t first = (int64_t)blockIdx.x * R::SIDE, left = call.columns - first;
	const int columns = left < R::SIDE ? (int)left : R::SIDE;
	T *c = call.c + first;

	if (SOLVES)
		invert<R, T, BLOCKS>(s, call);
	compose(s, call);
	__syncthreads();
	fetch_top(s, call, c, columns);
	__pipeline_wait_prior(0);
	__syncthreads();
	displace(s, call, c, columns);
	if (SOLVES)
		solve_tile(s, call);
	else
		__syncthreads();
	store_top(s, call, c, columns);
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
