/* SPDX-License-Identifier: MIT */
/* The row swaps of lu_rows.cu: swaps are composed, the top rows fetched to shared memory, displaced
 * rows written to their places. */
#pragma once

#include "factor/kernels/gemm/gemm_copy.cuh"
#include "lib/device/launch_bounds.cuh"

namespace
{

const int STEP = 16; /* rows solved at a time */
const int HELD = 8;  /* pieces of displaced rows that a thread reads before it stores them */

template <typename T> struct rows_call {
	const T *l; /* NULL: swaps only */
	int64_t ldl;
	T *c; /* element (i,j) at c + j + i ldc */
	int64_t ldc, rows, columns;
	const int *ipiv; /* NULL: no swaps */
	int w;
	bool vector;  /* blocks of COLUMNS columns are aligned to 16 bytes */
	bool aligned; /* so are the triangle's columns, at every STEP-th row */
};

/* The composed swaps of ROWS rows. */
template <int ROWS> struct moves {
	__align__(16) int pivot[ROWS];
	int before[ROWS];
	int from[ROWS];   /* sources of the top rows */
	int out[2][ROWS]; /* displaced rows: from, to */
	int displaced;
};

/* For swaps only. */
template <typename T, int BLOCKS, int COLUMNS> struct exchange_room {
	static const int WARPS = BLOCKS > 8 ? 16 : 8, THREADS = 32 * WARPS;
	/* per multiprocessor, with registers for all */
	static const int RESIDENT = sm_blocks(THREADS, 512 / THREADS);
	static const int SIDE = WARPS * COLUMNS, ROWS = 32 * BLOCKS;
	static const int PIECE = 16 / (int)sizeof(T); /* elements per copy */
	static const int PITCH = SIDE + PIECE;

	__align__(16) T tile[ROWS][PITCH];
	moves<ROWS> moves;
};

template <typename T, int BLOCKS, int COLUMNS> struct room {
	static const bool LARGE = BLOCKS > 4; /* the tile takes most of the memory */
	static const int WARPS = BLOCKS > 8 && sizeof(T) == 4 ? 16 : 8;
	static const int THREADS = 32 * WARPS, RESIDENT = sm_blocks(THREADS, 512 / THREADS);
	static const int SIDE = WARPS * COLUMNS;
	static const int ROWS = 32 * BLOCKS, STEPS = 2 * BLOCKS;
	static const int PIECE = 16 / (int)sizeof(T); /* elements per copy */
	static const int PITCH = SIDE + PIECE;        /* no bank conflicts along rows or columns */
	static const int SOLVED = 32 * COLUMNS + COLUMNS; /* nor between warps */

	/* Steps of the triangle in flight: OWN have their own memory, the others use the tile's. */
	static const int LATER = PITCH / STEP, OWN = !LARGE ? 2 : LATER > 1 ? 0 : 1;
	static const int STAGES = OWN + LATER;

	union {
		__align__(16) T tile[ROWS][PITCH]; /* the top, before the solve */
		T later[LATER][STEP][ROWS];
	};
	__align__(16) T own[OWN ? OWN * STEP : 1][OWN ? ROWS : 1];
	T inverse[STEPS][STEP][STEP]; /* column-major */
	bool grown[STEPS];
	union {
		__align__(16) T solved[WARPS][SOLVED]; /* 32 rows of every warp's columns */
		moves<ROWS> moves;
	};

	/* Place of a row in a column of an inverse. */
	static DEVICE int place(int, int row)
	{
		return row;
	}
};

/* The original row at place i before swap i, after other swaps moved it there. */
DEVICE int origin(const int *before, int i)
{
	while (before[i] >= 0)
		i = before[i];
	return i;
}

/* Composes the swaps. Swap i exchanges row i with a row not above it. So the way back of a row
 * leads from the last swap that names it to that swap's own row, then to an earlier swap each time:
 * before[i] is the last swap before i that names row i. */
template <class R, typename T> DEVICE void compose(R *s, const rows_call<T> &call)
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
		int earlier = -1, last = t; /* swaps that name the same row */
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

/* Pieces of rows of a block's columns, one piece per thread at a time: its place, and its number of
 * elements. */
template <class R> struct piece {
	int row, first, count;
};

template <class R> DEVICE piece<R> piece_of(int index, int columns)
{
	const int pieces = R::SIDE / R::PIECE, first = index % pieces * R::PIECE;
	return {index / pieces, first, min(max(columns - first, 0), R::PIECE)};
}

/* Fetches the top rows, as swapped, into the tile. */
template <class R, typename T>
DEVICE void fetch_top(R *s, const rows_call<T> &call, const T *c, int columns)
{
	for (int i = threadIdx.x; i < call.w * (R::SIDE / R::PIECE); i += R::THREADS) {
		const piece<R> p = piece_of<R>(i, columns);
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

template <class R, typename T> DEVICE void copy_piece(T *to, const T *from, int count, bool vector)
{
	if (vector && count == R::PIECE) {
		*(int4 *)to = *(const int4 *)from;
		return;
	}
	for (int q = 0; q < count; q++)
		to[q] = from[q];
}

/* Writes displaced rows from the top, still unchanged in memory, to their places: rows that the
 * tile has fetched. */
template <class R, typename T>
DEVICE void displace(R *s, const rows_call<T> &call, T *c, int columns)
{
	const int pieces = s->moves.displaced * (R::SIDE / R::PIECE);
	for (int i = threadIdx.x; i < pieces; i += R::THREADS) {
		const piece<R> p = piece_of<R>(i, columns);
		const T *from = c + s->moves.out[0][p.row] * call.ldc + p.first;
		T *to = c + s->moves.out[1][p.row] * call.ldc + p.first;
		copy_piece<R>(to, from, p.count, call.vector);
	}
}

/* The same in two steps, for whole pieces: reads, or stores, HELD pieces of a thread from `first`
 * on. */
template <class R, typename T>
DEVICE void displace_some(
        R *s, const rows_call<T> &call, T *c, int first, bool store, int4 (&held)[HELD])
{
	const int pieces = s->moves.displaced * (R::SIDE / R::PIECE);
#pragma unroll
	for (int q = 0; q < HELD; q++) {
		const int i = threadIdx.x + (first + q) * R::THREADS;
		if (i < pieces) {
			const piece<R> p = piece_of<R>(i, R::SIDE);
			T *at = c + s->moves.out[store][p.row] * call.ldc + p.first;
			if (store)
				*(int4 *)at = held[q];
			else
				held[q] = *(const int4 *)at;
		}
	}
}

/* All pieces; each thread already holds its first ones. */
template <class R, typename T>
DEVICE void displace_held(R *s, const rows_call<T> &call, T *c, int4 (&held)[HELD])
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
DEVICE void store_top(R *s, const rows_call<T> &call, T *c, int columns)
{
#pragma unroll 4
	for (int i = threadIdx.x; i < call.w * (R::SIDE / R::PIECE); i += R::THREADS) {
		const piece<R> p = piece_of<R>(i, columns);
		copy_piece<R>(c + p.row * call.ldc + p.first, &s->tile[p.row][p.first], p.count,
		        call.vector);
	}
}

} // namespace
