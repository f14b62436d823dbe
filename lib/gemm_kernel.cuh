/* SPDX-License-Identifier: MIT */
/* The tiled matrix product. A block computes ROWS x COLUMNS tiles of C one after the other; a warp
 * 64 x 64 (say) of a tile, a thread 8 x 16 in registers, so that one 16-byte read from shared
 * memory feeds more than 20 multiply-adds. Tiles of op(A) and op(B), DEPTH deep, travel through a
 * ring of STAGES buffers that runs on from one tile of C to the next; the tile of C itself is
 * fetched into shared memory while it is being computed. So nothing waits for memory between tiles.
 *
 * Cost of a tile: ROWS COLUMNS k multiply-adds on one SM, (ROWS + COLUMNS) k words from L2, and
 * 2 ROWS COLUMNS words of C from and to memory. */
#ifndef FATHOM_GEMM_KERNEL_CUH
#define FATHOM_GEMM_KERNEL_CUH

#include "gemm_tile_c.cuh"

template <class S, bool TA, bool TB, bool VECTOR> struct gemm_block {
	typedef typename S::type T;
	static const int LOAD = VECTOR ? 16 / (int)sizeof(T) : 1;
	typedef tile_copy<T, !TA, TA ? 1 : LOAD, S::ROWS, S::DEPTH, S::THREADS> copy_a;
	typedef tile_copy<T, TB, TB ? LOAD : 1, S::COLUMNS, S::DEPTH, S::THREADS> copy_b;
	static const int A_SIZE = S::DEPTH * copy_a::PITCH, B_SIZE = S::DEPTH * copy_b::PITCH;
	static const int STAGE = A_SIZE + B_SIZE;
	static const int RING_BYTES = S::STAGES * STAGE * (int)sizeof(T);
	/* the copies of a step are spread among its depths in CLUSTERS groups, CLUSTER apart */
	static const int CLUSTERS = 4, CLUSTER = S::DEPTH / CLUSTERS;

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
	T *ring;
	tile_c<S, VECTOR> c;

	__device__ gemm_block(const gemm_args<T> &args, T *memory)
	    : g(args), ring(memory), c(args, memory + S::STAGES * STAGE)
	{
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
		} else if (g.shared) { /* C's last tiles take longest: begin with them */
			index = g.units - 1 - index;
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
		const T *from = ring + stage * STAGE + depth * copy_a::PITCH + c.row;
#pragma unroll
		for (int i = 0; i < S::M / 4; i++)
			*(quad<T> *)&a[4 * i] = *(const quad<T> *)(from + 32 * i);
		from = ring + stage * STAGE + A_SIZE + depth * copy_b::PITCH + c.column;
#pragma unroll
		for (int j = 0; j < S::N / 4; j++)
			*(quad<T> *)&b[4 * j] = *(const quad<T> *)(from + 16 * j);
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
			c.begin(u.row, u.column, u.split);
#pragma unroll
			for (int j = 0; j < S::N; j++)
#pragma unroll
				for (int i = 0; i < S::M; i++)
					r.sum[j][i] = T(0);
			for (int i = 0; i < u.steps; i++) {
				c.fetch();
				if (next.whole > 0)
					step<true>(r, next, turn);
				else
					step<false>(r, next, turn);
			}
			c.finish(r.sum);
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
