/* SPDX-License-Identifier: MIT */
/* What lu_rows.cu does with the rows of a block's columns: the exchanges composed, the rows of the
 * top brought to shared memory from where they are, what they displace put where it belongs. */
#ifndef FATHOM_LU_ROWS_EXCHANGE_CUH
#define FATHOM_LU_ROWS_EXCHANGE_CUH

#include "factor/kernels/gemm/gemm_copy.cuh"
#include "lib/device/launch_bounds.cuh"

namespace
{

const int STEP = 16; /* rows solved for at a time */
const int HELD = 8;  /* pieces of displaced rows that a thread reads before it stores them */

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

/* The exchanges of ROWS rows, composed. */
template <int ROWS> struct moves {
	__align__(16) int pivot[ROWS];
	int before[ROWS];
	int from[ROWS];   /* of the top rows */
	int out[2][ROWS]; /* displaced ones: from, to */
	int displaced;
};

/* Exchanges alone. */
template <typename T, int BLOCKS, int COLUMNS> struct exchange_room {
	static const int WARPS = BLOCKS > 8 ? 16 : 8, THREADS = 32 * WARPS;
	/* on a multiprocessor, with registers for all */
	static const int RESIDENT = sm_blocks(THREADS, 512 / THREADS);
	static const int SIDE = WARPS * COLUMNS, ROWS = 32 * BLOCKS;
	static const int PIECE = 16 / (int)sizeof(T); /* elements of a copy */
	static const int PITCH = SIDE + PIECE;

	__align__(16) T tile[ROWS][PITCH];
	struct moves<ROWS> moves;
};

template <typename T, int BLOCKS, int COLUMNS> struct room {
	static const bool LARGE = BLOCKS > 4; /* then all there is goes to the tile */
	static const int WARPS = BLOCKS > 8 && sizeof(T) == 4 ? 16 : 8;
	static const int THREADS = 32 * WARPS, RESIDENT = sm_blocks(THREADS, 512 / THREADS);
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
		struct moves<ROWS> moves;
	};

	/* Where a column of an inverse has a row. */
	static __device__ __forceinline__ int place(int, int row)
	{
		return row;
	}
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
		s->moves.displaced = 0;
	if (!call.ipiv) {
		for (int t = threadIdx.x; t < w; t += R::THREADS)
			s->moves.from[t] = t;
		return;
	}
	for (int t = threadIdx.x; t < R::ROWS; t += R::THREADS) {
		const int64_t p = t < w ? (int64_t)call.ipiv[t] - 1 : -1;
		s->moves.pivot[t] = t >= w ? -1 : p >= t && p < call.rows ? (int)p : t;
		s->moves.before[t] = -1;
	}
	__syncthreads();
	for (int t = threadIdx.x; t < w; t += R::THREADS)
		if (s->moves.pivot[t] > t && s->moves.pivot[t] < w)
			atomicMax(&s->moves.before[s->moves.pivot[t]], t);
	__syncthreads();
	for (int t = threadIdx.x; t < w; t += R::THREADS) {
		const int to = s->moves.pivot[t];
		int earlier = -1, last = t; /* exchanges that name the same row */
#pragma unroll 4
		for (int i = 0; i < w; i += 4) {
			const int4 four = *(const int4 *)&s->moves.pivot[i];
			const int p[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
			for (int q = 0; q < 4; q++) {
				earlier = p[q] == to && i + q < t ? i + q : earlier;
				last = p[q] == to ? i + q : last;
			}
		}
		s->moves.from[t] = earlier < 0 ? to : origin(s->moves.before, earlier);
		if (to >= w && last == t) {
			const int slot = atomicAdd(&s->moves.displaced, 1);
			s->moves.out[0][slot] = origin(s->moves.before, t);
			s->moves.out[1][slot] = to;
		}
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
		const T *from = c + s->moves.from[p.row] * call.ldc + p.first;
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
 * of rows that are in the tile. */
template <class R, typename T>
__device__ __forceinline__ void displace(R *s, const struct rows_call<T> &call, T *c, int columns)
{
	const int pieces = s->moves.displaced * (R::SIDE / R::PIECE);
	for (int i = threadIdx.x; i < pieces; i += R::THREADS) {
		const struct piece<R> p = piece_of<R>(i, columns);
		const T *from = c + s->moves.out[0][p.row] * call.ldc + p.first;
		T *to = c + s->moves.out[1][p.row] * call.ldc + p.first;
		copy_piece<R>(to, from, p.count, call.vector);
	}
}

/* The same in two parts, where all pieces are whole: HELD ones of a thread from the first on read,
 * or stored. */
template <class R, typename T>
__device__ __forceinline__ void displace_some(
        R *s, const struct rows_call<T> &call, T *c, int first, bool store, int4 (&held)[HELD])
{
	const int pieces = s->moves.displaced * (R::SIDE / R::PIECE);
#pragma unroll
	for (int q = 0; q < HELD; q++) {
		const int i = threadIdx.x + (first + q) * R::THREADS;
		if (i < pieces) {
			const struct piece<R> p = piece_of<R>(i, R::SIDE);
			T *at = c + s->moves.out[store][p.row] * call.ldc + p.first;
			if (store)
				*(int4 *)at = held[q];
			else
				held[q] = *(const int4 *)at;
		}
	}
}

/* All of them, of which each thread holds its first ones. */
template <class R, typename T>
__device__ __forceinline__ void displace_held(
        R *s, const struct rows_call<T> &call, T *c, int4 (&held)[HELD])
{
	const int pieces = s->moves.displaced * (R::SIDE / R::PIECE);
	displace_some(s, call, c, 0, true, held);
#pragma unroll 1
	for (int q = HELD; q * R::THREADS < pieces; q += HELD) {
		displace_some(s, call, c, q, false, held);
		displace_some(s, call, c, q, true, held);
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

} // namespace

#endif
