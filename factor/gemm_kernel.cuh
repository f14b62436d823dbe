/* SPDX-License-Identifier: MIT */
/* The tiled matrix product. A block computes ROWS x COLUMNS tiles of C one after the other; a warp
 * 64 x 64 (say) of a tile, a thread 8 x 16 in registers, so that one 16-byte read from shared
 * memory feeds more than 20 multiply-adds. Tiles of op(A) and op(B), DEPTH deep, travel through a
 * ring of STAGES buffers that runs on from one tile of C to the next; the tile of C itself is
 * fetched into shared memory while it is being computed. So nothing waits for memory between tiles.
 *
 * Cost of a tile: ROWS COLUMNS k multiply-adds on one SM, (ROWS + COLUMNS) k words from L2, and
 * 2 ROWS COLUMNS words of C from and to memory.
 *
 * Lanes are interleaved (rows take lane bits 0, 2 and 3; columns bits 1 and 4): the pairing under
 * which the hardware serves half a warp's 16-byte reads at a time when lanes share addresses. */
#ifndef FATHOM_GEMM_KERNEL_CUH
#define FATHOM_GEMM_KERNEL_CUH

#include "gemm_copy.cuh"
#include "gemm_tiles.cuh"

template <typename T> struct gemm_args {
	const T *a, *b;
	T *c;
	int64_t lda, ldb, ldc, m, n, k;
	T alpha, beta;
	struct gemm_tiles tiles;
	int units;       /* tiles times splits */
	int splits;      /* of k; each writes its own partial C, */
	int64_t c_split; /* this many elements apart */
	bool shared;     /* a block for each unit */
	bool stage_c;    /* shared memory has room for the tile of C */
};

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

/* Where the old C is when a tile is stored. */
enum old_c { STAGED, IN_PLACE, IGNORED };

/* Four elements at once. */
template <typename T> struct alignas(16) quad {
	T x[4];
};

template <class S, bool TA, bool TB, bool VECTOR> struct gemm_block {
	typedef typename S::type T;
	static const int LOAD = VECTOR ? 16 / (int)sizeof(T) : 1;
	typedef tile_copy<T, !TA, TA ? 1 : LOAD, S::ROWS, S::DEPTH, S::THREADS> copy_a;
	typedef tile_copy<T, TB, TB ? LOAD : 1, S::COLUMNS, S::DEPTH, S::THREADS> copy_b;
	static const int A_SIZE = S::DEPTH * copy_a::PITCH, B_SIZE = S::DEPTH * copy_b::PITCH;
	static const int STAGE = A_SIZE + B_SIZE;
	static const int RING_BYTES = S::STAGES * STAGE * (int)sizeof(T);
	static const int C_BYTES = S::ROWS * S::COLUMNS * (int)sizeof(T);
	/* the copies of a step are spread among its depths in CLUSTERS groups, CLUSTER apart */
	static const int CLUSTERS = 4, CLUSTER = S::DEPTH / CLUSTERS;
	/* columns of C fetched with each step: the tile is there after 64 of k */
	static const int FETCH = S::N * S::DEPTH / 64;
	static_assert(FETCH == 1 || FETCH == 2 || FETCH == 4, "columns that are neighbours");

	/* A tile of C (or a split of it), and its steps along k. */
	struct unit {
		int64_t row, column, depth;
		int steps, split;
	};

	/* What is to be copied next, and how many of the next steps copy whole tiles. */
	struct cursor {
		const T *a, *b;
		int index, steps, whole, rows, columns, last; /* depth of the last step */
	};

	const gemm_args<T> &g;
	T *ring, *staged;
	int row, column; /* this thread's first element within a tile */

	__device__ gemm_block(const gemm_args<T> &args, T *memory) : g(args)
	{
		const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		const int warps_down = S::ROWS / S::WARP_ROWS;
		ring = memory;
		staged = memory + S::STAGES * STAGE;
		row = warp % warps_down * S::WARP_ROWS +
		      4 * ((lane & 1) | (lane >> 1 & 2) | (lane >> 1 & 4));
		column = warp / warps_down * S::WARP_COLUMNS +
		         4 * ((lane >> 1 & 1) | (lane >> 3 & 2));
	}

	__device__ __forceinline__ struct unit unit_at(int index) const
	{
		const int all = (int)((g.k + S::DEPTH - 1) / S::DEPTH);
		int split = 0, first = 0, last = all;
		if (g.splits > 1) {
			const int tiles = g.units / g.splits;
			split = index / tiles;
			index %= tiles;
			first = (int)((int64_t)all * split / g.splits);
			last = (int)((int64_t)all * (split + 1) / g.splits);
		}
		const struct gemm_tile t = gemm_tile_at(g.tiles, index);
		return {(int64_t)t.row * S::ROWS, (int64_t)t.column * S::COLUMNS,
		        (int64_t)first * S::DEPTH, last - first, split};
	}

	/* ---- operands ---- */

	__device__ __forceinline__ void aim(struct cursor &at) const
	{
		at.whole = 0;
		if (at.index >= g.units)
			return;
		const struct unit u = unit_at(at.index);
		at.a = g.a +
		       copy_a::offset(u.row + copy_a::row(), u.depth + copy_a::depth(), g.lda);
		at.b = g.b +
		       copy_b::offset(u.column + copy_b::row(), u.depth + copy_b::depth(), g.ldb);
		at.rows = (int)min((int64_t)S::ROWS, g.m - u.row);
		at.columns = (int)min((int64_t)S::COLUMNS, g.n - u.column);
		at.steps = u.steps;
		at.last = (int)min(
		        (int64_t)S::DEPTH, g.k - u.depth - (int64_t)(u.steps - 1) * S::DEPTH);
		if (at.rows == S::ROWS && at.columns == S::COLUMNS)
			at.whole = u.steps - (at.last < S::DEPTH);
	}

	/* To the next step; the pointers are there already. */
	__device__ __forceinline__ void advance(struct cursor &at) const
	{
		at.whole--;
		if (--at.steps > 0)
			return;
		at.index += gridDim.x;
		aim(at);
	}

	/* All copies of a step at once, whatever is there. */
	__device__ __forceinline__ void fetch(struct cursor &at, int stage) const
	{
		if (at.index < g.units) {
			T *to = ring + stage * STAGE;
			const int depths = at.steps > 1 ? S::DEPTH : at.last;
			copy_a::start_edge(to, at.a, g.lda, at.rows, depths);
			copy_b::start_edge(to + A_SIZE, at.b, g.ldb, at.columns, depths);
			at.a += copy_a::offset(0, S::DEPTH, g.lda);
			at.b += copy_b::offset(0, S::DEPTH, g.ldb);
			advance(at);
		}
		copy_commit();
	}

	__device__ __forceinline__ void load(T (&a)[S::M], T (&b)[S::N], int stage, int depth) const
	{
		const T *from = ring + stage * STAGE + depth * copy_a::PITCH + row;
#pragma unroll
		for (int i = 0; i < S::M / 4; i++)
			*(quad<T> *)&a[4 * i] = *(const quad<T> *)(from + 32 * i);
		from = ring + stage * STAGE + A_SIZE + depth * copy_b::PITCH + column;
#pragma unroll
		for (int j = 0; j < S::N / 4; j++)
			*(quad<T> *)&b[4 * j] = *(const quad<T> *)(from + 16 * j);
	}

	/* ---- the tile of C ---- */

	static __device__ __forceinline__ int column_of(int j)
	{
		return (j & ~3) * 4 + (j & 3);
	}

	__device__ __forceinline__ T *staged_at(int i, int j) const
	{
		return staged + ((j * (S::M / 4) + i) * S::THREADS + threadIdx.x) * 4;
	}

	/* FETCH columns of the tile at c, from column j. */
	__device__ __forceinline__ void fetch_c(const T *c, int j) const
	{
		c += column_of(j) * g.ldc;
		T *to = staged_at(0, j);
#pragma unroll
		for (int x = 0; x < FETCH; x++, c += g.ldc)
#pragma unroll
			for (int i = 0; i < S::M / 4; i++)
				copy_start<4 * (int)sizeof(T)>(
				        to + (x * (S::M / 4) + i) * S::THREADS * 4, c + 32 * i);
	}

	/* alpha sum + beta C for a whole tile, two columns at a time. */
	template <enum old_c OLD>
	__device__ __forceinline__ void store(T *c, const T (&sum)[S::N][S::M]) const
	{
#pragma unroll
		for (int j0 = 0; j0 < S::N; j0 += 2) {
			quad<T> x[2][S::M / 4];
#pragma unroll
			for (int j = 0; j < 2; j++)
#pragma unroll
				for (int i = 0; i < S::M / 4; i++) {
					if (OLD == STAGED)
						x[j][i] = *(const quad<T> *)staged_at(i, j0 + j);
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
					for (int e = 0; e < 4; e++) {
						const T new_c = g.alpha * sum[j0 + j][4 * i + e];
						x[j][i].x[e] =
						        OLD == IGNORED
						                ? new_c
						                : new_c + g.beta * x[j][i].x[e];
					}
					*(quad<T> *)(c + column_of(j0 + j) * g.ldc + 32 * i) =
					        x[j][i];
				}
		}
	}

	__device__ __forceinline__ bool has(int64_t at_row, int64_t at_column) const
	{
		return at_row < g.m && at_column < g.n &&
		       (g.tiles.part == GEMM_WHOLE ||
		               (g.tiles.part == GEMM_LOWER ? at_row >= at_column
		                                           : at_row <= at_column));
	}

	/* The same element by element, where C or the triangle ends within the tile, or C is not
	 * aligned. first_row, first_column: this thread's first element of C. */
	__device__ __forceinline__ void store_edge(
	        T *c, const T (&sum)[S::N][S::M], int64_t first_row, int64_t first_column) const
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
				T value = g.alpha * sum[j][i];
				if (g.beta != T(0))
					value += g.beta * old[x / S::M][i];
				if (has(first_row + down, first_column + column_of(j)))
					c[column_of(j) * g.ldc + down] = value;
			}
		}
	}

	__device__ __forceinline__ bool is_whole(const struct unit &u) const
	{
		const bool crossed = g.tiles.part != GEMM_WHOLE && u.row < u.column + S::COLUMNS &&
		                     u.column < u.row + S::ROWS;
		return VECTOR && !crossed && u.row + S::ROWS <= g.m && u.column + S::COLUMNS <= g.n;
	}

	/* ---- the loop ---- */

	/* A thread's registers: operands of this depth and the next, and sums. */
	struct registers {
		T a[2][S::M], b[2][S::N], sum[S::N][S::M];
	};

	/* The buffers of the ring: read now, and free to be written. */
	struct turn {
		int now, free;
	};

	/* DEPTH of the sums. With WHOLE the copies of a later step are spread among them, so that
	 * their address arithmetic hides; what does not come as whole tiles goes first. */
	template <bool WHOLE>
	__device__ __forceinline__ void step(
	        struct registers &r, struct cursor &next, struct turn &turn) const
	{
		T *to = ring + turn.free * STAGE;
		const T *walk_a = next.a, *walk_b = next.b;
		if (!WHOLE)
			fetch(next, turn.free);
#pragma unroll
		for (int d = 0; d < S::DEPTH; d++) {
			if (d == S::DEPTH - 1) {
				if (WHOLE)
					copy_commit();
				copy_wait<S::STAGES - 2>();
				__syncthreads();
				turn.free = turn.now;
				turn.now = turn.now == S::STAGES - 1 ? 0 : turn.now + 1;
			}
			load(r.a[(d + 1) % 2], r.b[(d + 1) % 2], turn.now, (d + 1) % S::DEPTH);
			if (WHOLE && d % CLUSTER == 0 && d / CLUSTER < CLUSTERS) {
				const int part = d / CLUSTER;
#pragma unroll
				for (int i = part * copy_a::COPIES / CLUSTERS;
				        i < (part + 1) * copy_a::COPIES / CLUSTERS; i++)
					copy_a::start_one(to, walk_a, g.lda, i);
#pragma unroll
				for (int i = part * copy_b::COPIES / CLUSTERS;
				        i < (part + 1) * copy_b::COPIES / CLUSTERS; i++)
					copy_b::start_one(to + A_SIZE, walk_b, g.ldb, i);
			}
#pragma unroll
			for (int j = 0; j < S::N; j++)
#pragma unroll
				for (int i = 0; i < S::M; i++)
					r.sum[j][i] += r.a[d % 2][i] * r.b[d % 2][j];
		}
		if (WHOLE) {
			next.a = TA ? next.a + S::DEPTH : walk_a;
			next.b = TB ? walk_b : next.b + S::DEPTH;
			advance(next);
		}
	}

	__device__ __forceinline__ void finish(const struct unit &u, T *c,
	        const struct registers &r, bool whole, bool stages) const
	{
		if (!whole)
			store_edge(c, r.sum, u.row + row, u.column + column);
		else if (stages)
			store<STAGED>(c, r.sum);
		else if (g.beta != T(0))
			store<IN_PLACE>(c, r.sum);
		else
			store<IGNORED>(c, r.sum);
	}

	__device__ __forceinline__ void run(void)
	{
		struct registers r;
		struct cursor next;
		struct turn turn = {0, S::STAGES - 1};

		next.index = blockIdx.x;
		aim(next);
		for (int i = 0; i < S::STAGES - 1; i++)
			fetch(next, i);
		copy_wait<S::STAGES - 2>();
		__syncthreads();
		load(r.a[0], r.b[0], 0, 0);
		for (int index = blockIdx.x; index < g.units; index += gridDim.x) {
			const struct unit u = unit_at(index);
			T *c = g.c + u.split * g.c_split + u.row + row +
			       (u.column + column) * g.ldc;
			const bool whole = is_whole(u),
			           stages = whole && g.stage_c && g.beta != T(0);
			int fetched = stages ? 0 : S::N;
#pragma unroll
			for (int j = 0; j < S::N; j++)
#pragma unroll
				for (int i = 0; i < S::M; i++)
					r.sum[j][i] = T(0);
			for (int i = 0; i < u.steps; i++) {
				if (fetched < S::N) {
					fetch_c(c, fetched);
					fetched += FETCH;
				}
				if (next.whole > 0)
					step<true>(r, next, turn);
				else
					step<false>(r, next, turn);
			}
			for (; fetched < S::N; fetched += FETCH)
				fetch_c(c, fetched);
			if (stages) {
				copy_commit();
				copy_wait<0>();
			}
			finish(u, c, r, whole, stages);
		}
	}
};

template <class S, bool TA, bool TB, bool VECTOR>
__global__ void __launch_bounds__(S::THREADS, S::RESIDENT)
        gemm_kernel(const __grid_constant__ gemm_args<typename S::type> g)
{
	extern __shared__ __align__(16) unsigned char gemm_memory[];
	gemm_block<S, TA, TB, VECTOR>(g, (typename S::type *)gemm_memory).run();
}

#endif
