/* SPDX-License-Identifier: MIT */
/* Row exchanges and the solve with a unit lower triangle, in one pass over the columns beside an LU
 * panel of a matrix that lies by rows, as its transpose: what an exchange moves lies together then.
 * A block's columns come from where the exchanges take their rows from, whole lines at a time, into
 * shared memory, and what they displace goes where it belongs. A warp then has COLUMNS of them in
 * its registers, lane l rows l, 32 + l, ...: 16 rows at a time are multiplied by the inverse of
 * their diagonal block, or solved for by substitution where that has grown, and taken out of the
 * rows below; the triangle's columns arrive in shared memory, 16 at a time, several such steps
 * before they are worked with.
 *
 * Cost of a column: 2 w words read and written, and as many of displaced rows, w^2/2 multiply-adds;
 * of a block w^2 comparisons of pivots and w/16 barriers.
 *
 * Log (H200, fp32, us). By a warp for its own columns, rows 16 or 32 bytes at a time, each access a
 * line of its own, 256 exchanges alone took 31 in 64 columns and 97 in 16384, 0.7 TB/s, and the LU
 * of 16384 88.9 ms instead of 84.8. With all blocks of rows unrolled a kernel was 22500
 * instructions, which a block goes through once, and copies with a number of zeros that the
 * compiler does not know came in five kinds with branches between them. Rolled up, with copies of
 * one kind, exchanges composed from row to row instead of all of them by every thread, several
 * steps of the triangle on their way and displaced rows read beside the others: 128 rows of 7808
 * columns, cold, 35 -> 22, 256 of 16384 94 -> 78, 512 of 31232 728 -> 536, the exchanges alone of
 * that 213 -> 107. */
#include "block_kernels.h"
#include "gemm_copy.cuh"

namespace
{

const int STEP = 16;  /* rows solved for at a time */
const int FEW = 4096; /* columns that are shared out more finely */
const int EARLY = 8;  /* pieces of displaced rows that a thread reads before the others */

/* An inverse with larger elements is not used. Those of what partial pivoting leaves are below 4.
 */
const float LARGEST = 16;

template <typename T> struct rows_call {
	const T *l; /* NULL: exchanges alone */
	int64_t ldl;
	T *c; /* element (i,j) at c + j + i ldc */
	int64_t ldc, rows, columns;
	const int *ipiv; /* NULL: no exchanges */
	int w;
	bool vector;  /* columns that are a multiple of COLUMNS are aligned to 16 bytes */
	bool aligned; /* and so are columns of the triangle, from every STEP-th row on */
};

template <typename T, int BLOCKS, int COLUMNS> struct room {
	static const bool LARGE = BLOCKS > 4; /* then all there is goes to the tile */
	static const int WARPS = BLOCKS > 8 && sizeof(T) == 4 ? 16 : 8;
	static const int THREADS = 32 * WARPS;
	static const int SIDE = WARPS * COLUMNS;
	static const int ROWS = 32 * BLOCKS, STEPS = 2 * BLOCKS;
	static const int PIECE = 16 / (int)sizeof(T); /* elements of a copy */
	static const int PITCH = SIDE + PIECE;        /* no bank conflicts, by rows or by columns */
	static const int SOLVED = 32 * COLUMNS + COLUMNS; /* nor between warps */

	/* The triangle's columns of so many steps; of some they have their place, of others the
	 * tile's. */
	static const int LATER = PITCH / STEP, OWN = !LARGE ? 2 : LATER > 1 ? 0 : 1;
	static const int STAGES = OWN + LATER;

	union {
		__align__(16) T tile[ROWS][PITCH]; /* the top, before the solve */
		T later[LATER][STEP][ROWS];
	};
	__align__(16) T own[OWN ? OWN * STEP : 1][OWN ? ROWS : 1];
	T inverse[STEPS][STEP][STEP]; /* by columns */
	bool grown[STEPS];
	union {
		__align__(16) T solved[WARPS][SOLVED]; /* 32 rows, every warp's columns */
		struct {
			__align__(16) int pivot[ROWS];
			int before[ROWS];
			int from[ROWS];   /* of the top rows */
			int out[2][ROWS]; /* displaced ones: from, to */
			int displaced;
		};
	};
};

/* ---- exchanges ---- */

/* What row i was before the exchanges up to the i-th, which others have moved there. */
__device__ __forceinline__ int origin(const int *before, int i)
{
	while (before[i] >= 0)
		i = before[i];
	return i;
}

/* Composes them. Exchange i is of row i with one that is not above it, so that a row's way back is
 * from the last exchange that names it to that one's own row, and so on, to an earlier one each
 * time: before[i] is the last exchange before the i-th that names row i. */
template <class R, typename T>
__device__ __forceinline__ void compose(R *s, const struct rows_call<T> &call)
{
	const int w = call.w;
	if (threadIdx.x == 0)
		s->displaced = 0;
	if (!call.ipiv) {
		for (int t = threadIdx.x; t < w; t += R::THREADS)
			s->from[t] = t;
		return;
	}
	for (int t = threadIdx.x; t < R::ROWS; t += R::THREADS) {
		const int64_t p = t < w ? (int64_t)call.ipiv[t] - 1 : -1;
		s->pivot[t] = t >= w ? -1 : p >= t && p < call.rows ? (int)p : t;
		s->before[t] = -1;
	}
	__syncthreads();
	for (int t = threadIdx.x; t < w; t += R::THREADS)
		if (s->pivot[t] > t && s->pivot[t] < w)
			atomicMax(&s->before[s->pivot[t]], t);
	__syncthreads();
	for (int t = threadIdx.x; t < w; t += R::THREADS) {
		const int to = s->pivot[t];
		int earlier = -1, last = t; /* exchanges that name the same row */
#pragma unroll 4
		for (int i = 0; i < w; i += 4) {
			const int4 four = *(const int4 *)&s->pivot[i];
			const int p[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
			for (int q = 0; q < 4; q++) {
				earlier = p[q] == to && i + q < t ? i + q : earlier;
				last = p[q] == to ? i + q : last;
			}
		}
		s->from[t] = earlier < 0 ? to : origin(s->before, earlier);
		if (to >= w && last == t) {
			const int slot = atomicAdd(&s->displaced, 1);
			s->out[0][slot] = origin(s->before, t);
			s->out[1][slot] = to;
		}
	}
}

/* ---- inverses of diagonal blocks ---- */

/* By half a warp each, a column a thread. */
template <class R, typename T>
__device__ __forceinline__ void invert(R *s, const struct rows_call<T> &call)
{
	const int lane = threadIdx.x % STEP;
	for (int b = threadIdx.x / STEP; b < R::STEPS; b += R::THREADS / STEP) {
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

/* Where a step's columns are. */
template <class R, typename T> __device__ __forceinline__ T *columns_at(R *s, int step)
{
	const int place = step % R::STAGES;
	return place < R::OWN ? &s->own[place * STEP][0] : &s->later[place - R::OWN][0][0];
}

/* BYTES at a time from the step's first row on; past the last row and column zeros. */
template <int BYTES, class R, typename T>
__device__ __forceinline__ void fetch_by(T *to, const struct rows_call<T> &call, int first)
{
	const int each = BYTES / (int)sizeof(T), k = threadIdx.x / 32;
	const T *from = call.l + (first + k) * call.ldl;
	to += k * R::ROWS;
#pragma unroll
	for (int q = 0; q < STEP / R::WARPS; q++) {
		const bool column = first + k + q * R::WARPS < call.w;
		for (int i = first + threadIdx.x % 32 * each; i < R::ROWS; i += 32 * each) {
			const int some = column ? min(max(call.w - i, 0), each) : 0;
			copy_start<BYTES>(to + i, some ? from + i : call.l, some * (int)sizeof(T));
		}
		from += R::WARPS * call.ldl;
		to += R::WARPS * R::ROWS;
	}
}

/* Starts a step's columns of the triangle on their way. */
template <class R, typename T>
__device__ __forceinline__ void fetch(R *s, const struct rows_call<T> &call, int step)
{
	if (step < R::STEPS) {
		T *to = columns_at<R, T>(s, step);
		if (call.aligned)
			fetch_by<16, R>(to, call, step * STEP);
		else
			fetch_by<sizeof(T), R>(to, call, step * STEP);
	}
	copy_commit();
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

template <typename T, int COLUMNS> __device__ __forceinline__ void put(T *to, const T (&x)[COLUMNS])
{
#pragma unroll
	for (int q = 0; q < COLUMNS; q++)
		to[q] = x[q];
}

/* The rows `half` of the block x become the solution, in `solved`: by the inverse, each half of the
 * warp for half of the columns. l: the columns of the triangle, from the block's row on. */
template <class R, typename T, int COLUMNS>
__device__ __forceinline__ void solve(
        const T (*inverse)[STEP], bool grown, const T *l, int half, T (&x)[COLUMNS], T *solved)
{
	const int HALF = COLUMNS / 2;
	const int lane = threadIdx.x % 32, row = lane % STEP, side = lane / STEP;
	const bool mine = side == half;
	if (grown) {
#pragma unroll 1
		for (int k = 0; k < STEP - 1; k++) {
			const T t = l[k * R::ROWS + lane];
#pragma unroll
			for (int c = 0; c < COLUMNS; c++) {
				const T y = __shfl_sync(0xffffffff, x[c], half * STEP + k);
				if (mine && row > k)
					x[c] -= t * y;
			}
		}
	}
	if (mine)
		put(solved + row * COLUMNS, x);
	__syncwarp();
	if (grown)
		return;
	T sum[HALF] = {};
#pragma unroll
	for (int k = 0; k < STEP; k++) {
		T y[HALF];
		const T t = inverse[k][row];
		get(y, solved + k * COLUMNS + side * HALF);
#pragma unroll
		for (int c = 0; c < HALF; c++)
			sum[c] = row >= k ? sum[c] + t * y[c] : sum[c]; /* not 0 times NaN */
	}
	__syncwarp();
	put(solved + row * COLUMNS + side * HALF, sum);
	__syncwarp();
}

/* STEP solved rows taken out of the first `left` blocks of x, D at most. l: their columns of the
 * triangle, from the lane's row of the first block on. */
template <class R, typename T, int D, int BLOCKS, int COLUMNS>
__device__ __forceinline__ void take_out(
        int left, const T *l, const T *solved, T (&x)[BLOCKS][COLUMNS])
{
	if (left == D) {
#pragma unroll 2
		for (int k = 0; k < STEP; k++) {
			T y[COLUMNS];
			get(y, solved + k * COLUMNS);
#pragma unroll
			for (int d = 0; d < D; d++)
				take(x[d], l[k * R::ROWS + 32 * d], y);
		}
	} else if constexpr (D > 1) {
		take_out<R, T, D - 1>(left, l, solved, x);
	}
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
	for (int i = threadIdx.x; i < call.w * (R::SIDE / R::PIECE); i += R::THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		const T *from = c + s->from[p.row] * call.ldc + p.first;
		T *to = &s->tile[p.row][p.first];
		if (call.vector && p.count == R::PIECE) {
			copy_start<16>(to, from);
			continue;
		}
#pragma unroll
		for (int q = 0; q < R::PIECE; q++)
			to[q] = q < p.count ? from[q] : T(0);
	}
	copy_commit();
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
 * of rows that are in the tile. A thread's pieces from the first one on. */
template <class R, typename T>
__device__ __forceinline__ void displace(
        R *s, const struct rows_call<T> &call, T *c, int columns, int first)
{
	const int pieces = s->displaced * (R::SIDE / R::PIECE);
#pragma unroll 4
	for (int i = threadIdx.x + first * R::THREADS; i < pieces; i += R::THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		const T *from = c + s->out[0][p.row] * call.ldc + p.first;
		T *to = c + s->out[1][p.row] * call.ldc + p.first;
		copy_piece<R>(to, from, p.count, call.vector);
	}
}

/* The same in two parts for its first EARLY pieces, where all of them are whole. */
template <class R, typename T>
__device__ __forceinline__ void displace_early(
        R *s, const struct rows_call<T> &call, T *c, bool store, int4 (&held)[EARLY])
{
	const int pieces = s->displaced * (R::SIDE / R::PIECE);
#pragma unroll
	for (int q = 0; q < EARLY; q++) {
		const int i = threadIdx.x + q * R::THREADS;
		if (i < pieces) {
			const struct piece<R> p = piece_of<R>(i, R::SIDE);
			T *at = c + s->out[store][p.row] * call.ldc + p.first;
			if (store)
				*(int4 *)at = held[q];
			else
				held[q] = *(const int4 *)at;
		}
	}
}

template <class R, typename T>
__device__ __forceinline__ void store_top(R *s, const struct rows_call<T> &call, T *c, int columns)
{
#pragma unroll 4
	for (int i = threadIdx.x; i < call.w * (R::SIDE / R::PIECE); i += R::THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		copy_piece<R>(c + p.row * call.ldc + p.first, &s->tile[p.row][p.first], p.count,
		        call.vector);
	}
}

/* The 32 rows that are solved, from `row` on. */
template <class R, typename T, int COLUMNS>
__device__ __forceinline__ void store_solved(
        R *s, const struct rows_call<T> &call, T *c, int columns, int row)
{
#pragma unroll
	for (int i = threadIdx.x; i < 32 * (R::SIDE / R::PIECE); i += R::THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		const T *from = s->solved[p.first / COLUMNS] + p.row * COLUMNS + p.first % COLUMNS;
		if (row + p.row < call.w)
			copy_piece<R>(
			        c + (row + p.row) * call.ldc + p.first, from, p.count, call.vector);
	}
}

/* The solution from the tile to memory; the first columns of the triangle are on their way. Of the
 * blocks of x the first is the one that is solved for: those behind it move up, so that the same
 * few instructions do for all. */
template <typename T, int BLOCKS, int COLUMNS>
__device__ __forceinline__ void solve_tile(
        struct room<T, BLOCKS, COLUMNS> *s, const struct rows_call<T> &call, T *c, int columns)
{
	typedef struct room<T, BLOCKS, COLUMNS> R;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	T x[BLOCKS][COLUMNS];
#pragma unroll
	for (int b = 0; b < BLOCKS; b++)
		get(x[b], &s->tile[32 * b + lane][warp * COLUMNS]);
	__syncthreads();
#pragma unroll 1
	for (int step = R::OWN; step < R::STAGES - 1; step++)
		fetch(s, call, step);
#pragma unroll 1
	for (int step = 0; step < R::STEPS; step++) {
		const int b = step / 2, half = step % 2;
		const T *l = columns_at<R, T>(s, step) + 32 * b;
		copy_wait<R::STAGES - 2>();
		__syncthreads(); /* the step's columns are there, and no thread is behind */
		fetch(s, call, step + R::STAGES - 1);
		T *solved = s->solved[warp] + half * STEP * COLUMNS;
		solve<R>(s->inverse[step], s->grown[step], l, half, x[0], solved);
		take_out<R, T, BLOCKS>(BLOCKS - b, l + lane, solved, x);
		if (half == 0)
			continue;
		__syncthreads();
		store_solved<R, T, COLUMNS>(s, call, c, columns, 32 * b);
#pragma unroll
		for (int d = 0; d + 1 < BLOCKS; d++)
#pragma unroll
			for (int q = 0; q < COLUMNS; q++)
				x[d][q] = x[d + 1][q];
	}
}

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
__global__ void __launch_bounds__(room<T, BLOCKS, COLUMNS>::THREADS,
        512 / room<T, BLOCKS, COLUMNS>::THREADS) lu_rows_kernel(const struct rows_call<T> call)
{
	typedef room<T, BLOCKS, COLUMNS> R;
	extern __shared__ __align__(16) unsigned char memory[];
	R *s = (R *)memory;
	const int64_t first = (int64_t)blockIdx.x * R::SIDE, left = call.columns - first;
	const int columns = left < R::SIDE ? (int)left : R::SIDE;
	const bool early = call.vector && columns == R::SIDE;
	T *c = call.c + first;
	int4 pieces[EARLY];

	compose(s, call);
	__syncthreads();
	fetch_top(s, call, c, columns);
	if (early)
		displace_early(s, call, c, false, pieces);
	if (SOLVES) {
		for (int step = 0; step < R::OWN; step++)
			fetch(s, call, step);
		invert(s, call);
	}
	copy_wait<SOLVES ? R::OWN : 0>();
	__syncthreads();
	if (early)
		displace_early(s, call, c, true, pieces);
	displace(s, call, c, columns, early ? EARLY : 0);
	if (SOLVES) {
		solve_tile(s, call, c, columns);
	} else {
		__syncthreads();
		store_top(s, call, c, columns);
	}
}

template <typename T, int BLOCKS, int COLUMNS, bool SOLVES>
int start(const struct rows_call<T> &call, cudaStream_t stream)
{
	typedef room<T, BLOCKS, COLUMNS> R;
	const int64_t blocks = (call.columns + R::SIDE - 1) / R::SIDE;
	const auto kernel = lu_rows_kernel<T, BLOCKS, COLUMNS, SOLVES>;
	const int error = cudaFuncSetAttribute(
	        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(R));
	if (error)
		return error;
	kernel<<<(unsigned)blocks, R::THREADS, sizeof(R), stream>>>(call);
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
		        (T *)c.data + c.offset, c.ld, c.n, c.m, p.n ? p.data : NULL,
		        (int)(p.n ? p.n : a.n),
		        (uintptr_t)matrix_address(c) % 16 == 0 && c.ld * sizeof(T) % 16 == 0,
		        SOLVES &&
		                (uintptr_t)matrix_address(a) % 16 == 0 && a.ld * sizeof(T) % 16 == 0
	};
	if (c.m == 0 || call.w == 0)
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
