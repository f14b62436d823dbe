/* SPDX-License-Identifier: MIT */
/* The tile of C that a block computes: fetched into shared memory during its product, then read,
 * combined and stored. A thread holds quads of rows in N columns. Lanes are interleaved (rows take
 * lane bits 0, 2 and 3; columns bits 1 and 4): with this pairing the hardware serves half a warp's
 * 16-byte reads at a time when lanes share addresses.
 *
 * When C is aligned a thread copies its own elements. Otherwise a warp copies its part of the tile
 * column by column, neighbouring lanes on neighbouring elements, and stores it in the same way. */
#pragma once

#include "gemm_operands.cuh"

template <typename T, int ROWS_, int COLUMNS_, int DEPTH_, int WARP_ROWS_, int WARP_COLUMNS_,
        int STAGES_, int RESIDENT_>
struct gemm_shape {
	typedef T type;
	static const int ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_;
	static const int WARP_ROWS = WARP_ROWS_, WARP_COLUMNS = WARP_COLUMNS_;
	static const int STAGES = STAGES_, RESIDENT = RESIDENT_;
	static const int THREADS = 32 * (ROWS / WARP_ROWS) * (COLUMNS / WARP_COLUMNS);
	static const int M = WARP_ROWS / 8, N = WARP_COLUMNS / 4; /* a thread's part */
};

/* Location of the old C when a tile is stored. */
enum old_c { STAGED, IN_PLACE, IGNORED };

template <typename T> struct alignas(16) quad {
	T x[4];
};

template <class S, bool VECTOR> struct tile_c {
	typedef typename S::type T;
	static const int BYTES = S::ROWS * S::COLUMNS * (int)sizeof(T);
	/* columns of a thread that each step fetches: all N are there after 64 of k */
	static const int FETCH = S::N * S::DEPTH / 64;
	static_assert(FETCH == 1 || FETCH == 2 || FETCH == 4, "columns that are neighbours");
	/* a thread with few elements stores them one by one, which is faster */
	static const bool LONG_EDGE = S::M * S::N >= 64;
	static const int ACROSS = S::WARP_ROWS / 32; /* a warp's rows, a lane's share of a column */

	const gemm_args<T> &g;
	T *staged;         /* this thread's (aligned) or this warp's part of the tile */
	int row, column;   /* this thread's first element within the tile */
	int across, along; /* this lane's first element when the warp works on whole columns */
	T *c;              /* that element of C: (row, column) or (across, along) */
	int64_t first_row, first_column; /* its place in C */
	bool whole;                      /* the tile is computed entirely */
	bool stages;                     /* the tile passes through shared memory */
	int fetched;                     /* columns fetched */

	__device__ tile_c(const gemm_args<T> &args, T *memory) : g(args)
	{
		const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		const int warps_down = S::ROWS / S::WARP_ROWS;
		const int down = 4 * ((lane & 1) | (lane >> 1 & 2) | (lane >> 1 & 4));
		const int right = 4 * ((lane >> 1 & 1) | (lane >> 3 & 2));
		along = warp / warps_down * S::WARP_COLUMNS;
		across = warp % warps_down * S::WARP_ROWS + lane;
		row = across - lane + down;
		column = along + right;
		staged =
		        memory + (VECTOR ? threadIdx.x * 4 : warp * S::WARP_ROWS * S::WARP_COLUMNS);
	}

	/* Starts the tile whose first element is (tile_row, tile_column). */
	DEVICE void begin(int64_t tile_row, int64_t tile_column, int split)
	{
		const bool crossed = g.tiles.part != GEMM_WHOLE &&
		                     tile_row < tile_column + S::COLUMNS &&
		                     tile_column < tile_row + S::ROWS;
		whole = !crossed && tile_row + S::ROWS <= g.m && tile_column + S::COLUMNS <= g.n;
		stages = g.stage_c && (whole || !VECTOR);
		fetched = stages && g.beta != T(0) ? 0 : S::N;
		first_row = tile_row + (VECTOR || !stages ? row : across);
		first_column = tile_column + (VECTOR || !stages ? column : along);
		c = g.c + split * g.c_split + first_row + first_column * g.ldc;
	}

	DEVICE bool has(int64_t at_row, int64_t at_column) const
	{
		return at_row < g.m && at_column < g.n &&
		       (g.tiles.part == GEMM_WHOLE ||
		               (g.tiles.part == GEMM_LOWER ? at_row >= at_column
		                                           : at_row <= at_column));
	}

	static DEVICE int column_of(int j)
	{
		return (j & ~3) * 4 + (j & 3);
	}

	DEVICE void fetch(void)
	{
		if (fetched >= S::N)
			return;
		if (VECTOR)
			fetch_quads();
		else
			fetch_columns();
		fetched += FETCH;
	}

	DEVICE void fetch_rest(void)
	{
		while (fetched < S::N)
			fetch();
		if (stages) {
			copy_commit();
			copy_wait<0>();
		}
	}

	DEVICE void fetch_quads(void) const
	{
		const T *from = c + column_of(fetched) * g.ldc;
		T *to = staged + fetched * (S::M / 4) * S::THREADS * 4;
#pragma unroll
		for (int x = 0; x < FETCH; x++, from += g.ldc)
#pragma unroll
			for (int i = 0; i < S::M / 4; i++)
				copy_start<4 * (int)sizeof(T)>(
				        to + (x * (S::M / 4) + i) * S::THREADS * 4, from + 32 * i);
	}

	DEVICE void fetch_columns(void) const
	{
		const int first = fetched * (S::WARP_COLUMNS / S::N);
		const T *from = c + first * g.ldc;
		T *to = staged + first * S::WARP_ROWS + threadIdx.x % 32;
#pragma unroll 4
		for (int x = 0; x < FETCH * (S::WARP_COLUMNS / S::N); x++) {
#pragma unroll
			for (int i = 0; i < ACROSS; i++) {
				const bool there =
				        whole || has(first_row + 32 * i, first_column + first + x);
				copy_start<(int)sizeof(T)>(to + 32 * i, there ? from + 32 * i : c,
				        there ? (int)sizeof(T) : 0);
			}
			from += g.ldc;
			to += S::WARP_ROWS;
		}
	}

	DEVICE void finish(const T (&sum)[S::N][S::M])
	{
		fetch_rest();
		if (!VECTOR && stages)
			store_columns(sum);
		else if (LONG_EDGE && VECTOR && !whole && g.stage_c && g.beta != T(0))
			store_edge_quads(sum);
		else if (!VECTOR || !whole)
			store_edge(sum);
		else if (g.beta == T(0))
			store_quads<IGNORED>(sum);
		else if (stages)
			store_quads<STAGED>(sum);
		else
			store_quads<IN_PLACE>(sum);
	}

	/* alpha sum + beta C for a whole tile, two columns at a time. */
	template <enum old_c OLD> DEVICE void store_quads(const T (&sum)[S::N][S::M]) const
	{
#pragma unroll
		for (int j0 = 0; j0 < S::N; j0 += 2) {
			quad<T> x[2][S::M / 4];
#pragma unroll
			for (int j = 0; j < 2; j++)
#pragma unroll
				for (int i = 0; i < S::M / 4; i++) {
					if (OLD == STAGED)
						x[j][i] =
						        *(const quad<T> *)(staged +
						                           ((j0 + j) * (S::M / 4) +
						                                   i) *
						                                   S::THREADS * 4);
					if (OLD == IN_PLACE)
						x[j][i] = *(
						        const quad<T> *)(c +
						                         column_of(j0 + j) * g.ldc +
						                         32 * i);
				}
#pragma unroll
			for (int j = 0; j < 2; j++)
#pragma unroll
				for (int i = 0; i < S::M / 4; i++) {
#pragma unroll
					for (int e = 0; e < 4; e++)
						x[j][i].x[e] = combine<OLD>(
						        sum[j0 + j][4 * i + e], x[j][i].x[e]);
					*(quad<T> *)(c + column_of(j0 + j) * g.ldc + 32 * i) =
					        x[j][i];
				}
		}
	}

	template <enum old_c OLD> DEVICE T combine(T sum, T old) const
	{
		return OLD == IGNORED ? g.alpha * sum : g.alpha * sum + g.beta * old;
	}

	/* Through shared memory, where lanes exchange elements. */
	DEVICE void store_columns(const T (&sum)[S::N][S::M])
	{
		__syncwarp();
		T *mine = staged + (column - along) * S::WARP_ROWS + row % S::WARP_ROWS;
#pragma unroll
		for (int j = 0; j < S::N; j++)
#pragma unroll
			for (int i = 0; i < S::M / 4; i++) {
				quad<T> *at =
				        (quad<T> *)(mine + column_of(j) * S::WARP_ROWS + 32 * i);
				quad<T> x;
				if (g.beta != T(0))
					x = *at;
#pragma unroll
				for (int e = 0; e < 4; e++)
					x.x[e] =
					        g.beta != T(0)
					                ? combine<STAGED>(sum[j][4 * i + e], x.x[e])
					                : combine<IGNORED>(sum[j][4 * i + e], T(0));
				*at = x;
			}
		__syncwarp();
		const T *from = staged + threadIdx.x % 32;
#pragma unroll 4
		for (int x = 0; x < S::WARP_COLUMNS; x++) {
#pragma unroll
			for (int i = 0; i < ACROSS; i++)
				if (whole || has(first_row + 32 * i, first_column + x))
					c[x * g.ldc + 32 * i] = from[x * S::WARP_ROWS + 32 * i];
		}
		__syncwarp();
	}

	/* Whether a thread's quad at (down, right) is computed entirely. */
	DEVICE bool has_quad(int down, int right) const
	{
		const int64_t at_row = first_row + down, at_column = first_column + right;
		return has(at_row, at_column) && has(at_row + 3, at_column);
	}

	/* Fetches the computed part of the old C, all of it at once. */
	DEVICE void fetch_edge(void) const
	{
#pragma unroll 4
		for (int x = 0; x < S::N * (S::M / 4); x++) {
			const int right = column_of(x / (S::M / 4)), down = x % (S::M / 4) * 32;
			const T *from = c + right * g.ldc + down;
			T *to = staged + x * S::THREADS * 4;
			if (has_quad(down, right))
				copy_start<4 * (int)sizeof(T)>(to, from);
			else
#pragma unroll
				for (int e = 0; e < 4; e++)
					if (has(first_row + down + e, first_column + right))
						copy_start<(int)sizeof(T)>(to + e, from + e);
		}
		copy_commit();
		copy_wait<0>();
	}

	/* An aligned tile at the edge of C or of the triangle: combined in shared memory, so that
	 * the loops with conditions hold nothing in registers. */
	DEVICE void store_edge_quads(const T (&sum)[S::N][S::M]) const
	{
		fetch_edge();
#pragma unroll
		for (int x = 0; x < S::N * (S::M / 4); x++) {
			quad<T> *at = (quad<T> *)(staged + x * S::THREADS * 4), y = *at;
#pragma unroll
			for (int e = 0; e < 4; e++)
				y.x[e] = combine<STAGED>(
				        sum[x / (S::M / 4)][4 * (x % (S::M / 4)) + e], y.x[e]);
			*at = y;
		}
#pragma unroll 4
		for (int x = 0; x < S::N * (S::M / 4); x++) {
			const int right = column_of(x / (S::M / 4)), down = x % (S::M / 4) * 32;
			const quad<T> y = *(const quad<T> *)(staged + x * S::THREADS * 4);
			T *to = c + right * g.ldc + down;
			if (has_quad(down, right))
				*(quad<T> *)to = y;
			else
#pragma unroll
				for (int e = 0; e < 4; e++)
					if (has(first_row + down + e, first_column + right))
						to[e] = y.x[e];
		}
	}

	/* The same, element by element. */
	DEVICE void store_edge(const T (&sum)[S::N][S::M]) const
	{
		T old[2][S::M];
#pragma unroll
		for (int j0 = 0; j0 < S::N; j0 += 2) {
#pragma unroll
			for (int x = 0; x < 2 * S::M && g.beta != T(0); x++) {
				const int j = j0 + x / S::M, i = x % S::M,
				          down = i / 4 * 32 + i % 4;
				if (has(first_row + down, first_column + column_of(j)))
					old[x / S::M][i] = c[column_of(j) * g.ldc + down];
			}
#pragma unroll
			for (int x = 0; x < 2 * S::M; x++) {
				const int j = j0 + x / S::M, i = x % S::M,
				          down = i / 4 * 32 + i % 4;
				const T value = g.beta != T(0) ? combine<STAGED>(sum[j][i],
				                                         old[x / S::M][i])
				                               : combine<IGNORED>(sum[j][i], T(0));
				if (has(first_row + down, first_column + column_of(j)))
					c[column_of(j) * g.ldc + down] = value;
			}
		}
	}
};
