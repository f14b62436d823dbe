/* SPDX-License-Identifier: MIT */
/* The tiled matrix product. A block computes ROWS x COLUMNS tiles of C one after the other, a warp
 * for example 64 x 64 of a tile, a thread 8 x 16 in registers: one 16-byte read from shared memory
 * feeds more than 20 multiply-adds. Tiles of op(A) and op(B), DEPTH deep, pass through a ring of
 * STAGES buffers that continues from one tile of C to the next. The tile of C is fetched into
 * shared memory during its product. So nothing waits for memory between tiles.
 *
 * Cost of a tile: ROWS COLUMNS k multiply-adds on one SM, (ROWS + COLUMNS) k words from L2, and 2
 * ROWS COLUMNS words of C from and to memory. */
#pragma once

#include "gemm_tile_c.cuh"
#include "lib/device/launch_bounds.cuh"

template <class S, bool TA, bool TB, bool VECTOR>
struct gemm_block : gemm_operands<S, TA, TB, VECTOR> {
	typedef S shape;
	typedef gemm_operands<S, TA, TB, VECTOR> operands;
	typedef typename S::type T;
	using operands::A_SIZE;
	using operands::g;
	using operands::ring;
	using operands::STAGE;
	using typename operands::copy_a;
	using typename operands::copy_b;
	using typename operands::cursor;
	using typename operands::turn;
	using typename operands::unit;
	/* the copies of a step are issued in CLUSTERS groups, CLUSTER depths apart */
	static const int CLUSTERS = 4, CLUSTER = S::DEPTH / CLUSTERS;

	tile_c<S, VECTOR> c;

	__device__ gemm_block(const gemm_args<T> &args, T *memory)
	    : operands(args, memory), c(args, memory + S::STAGES * STAGE)
	{
	}

	DEVICE void load(T (&a)[S::M], T (&b)[S::N], int stage, int depth) const
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

	/* A thread's registers: operands of this depth and the next, and sums. */
	struct registers {
		T a[2][S::M], b[2][S::N], sum[S::N][S::M];

		DEVICE void clear(void)
		{
#pragma unroll
			for (int j = 0; j < S::N; j++)
#pragma unroll
				for (int i = 0; i < S::M; i++)
					sum[j][i] = T(0);
		}
	};

	/* Adds DEPTH to the sums. With WHOLE the copies of a later step are spread over the depths,
	 * to hide their address arithmetic; copies of partial tiles go first. */
	template <bool WHOLE>
	DEVICE void step(struct registers &r, cursor &next, turn &buffers) const
	{
		T *to = ring + buffers.free * STAGE;
		const T *chain_a = next.a, *chain_b = next.b;
		if (!WHOLE)
			this->fetch(next, buffers.free);
#pragma unroll
		for (int d = 0; d < S::DEPTH; d++) {
			if (d == S::DEPTH - 1) {
				if (WHOLE)
					copy_commit();
				buffers.wait();
			}
			load(r.a[(d + 1) % 2], r.b[(d + 1) % 2], buffers.now, (d + 1) % S::DEPTH);
			if (WHOLE && d % CLUSTER == 0 && d / CLUSTER < CLUSTERS) {
				const int part = d / CLUSTER;
#pragma unroll
				for (int i = part * copy_a::COPIES / CLUSTERS;
				        i < (part + 1) * copy_a::COPIES / CLUSTERS; i++)
					copy_a::start_one(to, chain_a, g.lda, i);
#pragma unroll
				for (int i = part * copy_b::COPIES / CLUSTERS;
				        i < (part + 1) * copy_b::COPIES / CLUSTERS; i++)
					copy_b::start_one(to + A_SIZE, chain_b, g.ldb, i);
			}
#pragma unroll
			for (int j = 0; j < S::N; j++)
#pragma unroll
				for (int i = 0; i < S::M; i++)
					r.sum[j][i] += r.a[d % 2][i] * r.b[d % 2][j];
		}
		if (WHOLE)
			this->advance(next, chain_a, chain_b);
	}
};

template <class S, bool TA, bool TB, bool VECTOR>
__global__ void __launch_bounds__(S::THREADS, sm_blocks(S::THREADS, S::RESIDENT))
        gemm_kernel(const __grid_constant__ gemm_args<typename S::type> g)
{
	extern __shared__ __align__(16) unsigned char gemm_memory[];
	gemm_block<S, TA, TB, VECTOR> block(g, (typename S::type *)gemm_memory);
	gemm_run(block);
}
