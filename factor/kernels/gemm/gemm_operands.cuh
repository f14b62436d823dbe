/* SPDX-License-Identifier: MIT */
/* Transport of a product's operands: tiles of op(A) and op(B), DEPTH deep, pass through a ring of
 * STAGES buffers in shared memory. The ring continues from one tile of C to the next, so nothing
 * waits for memory between tiles. */
#pragma once

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
	int64_t c_split; /* at this distance in elements */
	bool shared;     /* few units per block */
	/* the first `many` blocks have several units, `many` apart and before `end`; every other
	 * block has one, from `end` on */
	int many, end;
	int start;    /* tiles are counted downwards from this one, modulo their number */
	bool stage_c; /* the tile of C fits in shared memory */
};

template <class S, bool TA, bool TB, bool VECTOR> struct gemm_operands {
	typedef typename S::type T;
	static const int LOAD = VECTOR ? 16 / (int)sizeof(T) : 1;
	typedef tile_copy<T, !TA, TA ? 1 : LOAD, S::ROWS, S::DEPTH, S::THREADS> copy_a;
	typedef tile_copy<T, TB, TB ? LOAD : 1, S::COLUMNS, S::DEPTH, S::THREADS> copy_b;
	static const int A_SIZE = S::DEPTH * copy_a::PITCH, B_SIZE = S::DEPTH * copy_b::PITCH;
	static const int STAGE = A_SIZE + B_SIZE;
	static const int RING_BYTES = S::STAGES * STAGE * (int)sizeof(T);

	/* A tile of C (or a split of it), and its steps along k. */
	struct unit {
		int64_t row, column, depth;
		int steps, split;
	};

	/* The next copy, and how many of the next steps copy whole tiles. */
	struct cursor {
		const T *a, *b;
		int index, steps, whole, rows, columns, last; /* last: depth of the last step */
	};

	/* Buffers of the ring: the one being read, and the one to be written. */
	struct turn {
		int now, free;

		/* Waits for the copies of the next buffer: a barrier. */
		DEVICE void wait(void)
		{
			copy_wait<S::STAGES - 2>();
			__syncthreads();
			free = now;
			now = now == S::STAGES - 1 ? 0 : now + 1;
		}
	};

	const gemm_args<T> &g;
	T *ring;

	__device__ gemm_operands(const gemm_args<T> &args, T *memory) : g(args), ring(memory)
	{
	}

	DEVICE int first_unit(void) const
	{
		return (int)blockIdx.x < g.many ? blockIdx.x : blockIdx.x - g.many + g.end;
	}

	DEVICE int unit_after(int index) const
	{
		return index + ((int)blockIdx.x < g.many ? g.many : g.units);
	}

	DEVICE bool has_unit(int index) const
	{
		return index < ((int)blockIdx.x < g.many ? g.end : g.units);
	}

	DEVICE struct unit unit_at(int index) const
	{
		const int all = (int)((g.k + S::DEPTH - 1) / S::DEPTH);
		int split = 0, first = 0, last = all;
		index = g.start - index;
		if (index >= g.units)
			index -= g.units;
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

	DEVICE void aim(struct cursor &at) const
	{
		at.whole = 0;
		if (!has_unit(at.index))
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

	/* To the next step; the pointers are already set. */
	DEVICE void advance(struct cursor &at) const
	{
		at.whole--;
		if (--at.steps > 0)
			return;
		at.index = unit_after(at.index);
		aim(at);
	}

	/* After all copies of a step of whole tiles; chain_a and chain_b have moved along columns.
	 */
	DEVICE void advance(struct cursor &at, const T *chain_a, const T *chain_b) const
	{
		at.a = TA ? at.a + S::DEPTH : chain_a;
		at.b = TB ? chain_b : at.b + S::DEPTH;
		advance(at);
	}

	/* All copies of a step at once, whole tiles or not. */
	DEVICE void fetch(struct cursor &at, int stage) const
	{
		if (has_unit(at.index)) {
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
};

/* The product, computed by BLOCK (gemm_block or gemm_double_block): a block of threads processes
 * one tile of C after the other. */
template <class BLOCK> static DEVICE void gemm_run(BLOCK &b)
{
	typedef typename BLOCK::shape S;
	typename BLOCK::registers r;
	typename BLOCK::cursor next;
	typename BLOCK::turn turn = {0, S::STAGES - 1};

	next.index = b.first_unit();
	b.aim(next);
	for (int i = 0; i < S::STAGES - 1; i++)
		b.fetch(next, i);
	copy_wait<S::STAGES - 2>();
	__syncthreads();
	b.load(r.a[0], r.b[0], 0, 0);
	for (int index = b.first_unit(); b.has_unit(index); index = b.unit_after(index)) {
		const typename BLOCK::unit u = b.unit_at(index);
		b.c.begin(u.row, u.column, u.split);
		r.clear();
		for (int i = 0; i < u.steps; i++) {
			b.c.fetch();
			if (next.whole > 0)
				b.template step<true>(r, next, turn);
			else
				b.template step<false>(r, next, turn);
		}
		b.c.finish(r.sum);
	}
}
