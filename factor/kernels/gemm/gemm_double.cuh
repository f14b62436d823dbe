/* SPDX-License-Identifier: MIT */
/* The tiled matrix product in double precision, on the tensor cores. A warp computes WARP_ROWS x
 * WARP_COLUMNS of a tile in pieces of 16 x 16, two products each. Columns of C are the rows of the
 * tensor cores' result, rows of C its columns; a lane's rows 2 g and 2 g + 1 of op(A) are column g
 * of two neighbouring results. So all operand reads are 16 bytes without bank conflicts, and a lane
 * holds quads of rows of C. The old tile of C is copied to shared memory during the first 64 of k,
 * each thread its own part.
 *
 * Cost of a tile: ROWS COLUMNS k multiply-adds on one SM, (ROWS + COLUMNS) k words from L2, and 2
 * ROWS COLUMNS words of C from and to memory.
 *
 * Two blocks of 64 x 64 per multiprocessor are faster than one of 128 x 128 for short k.
 * docs/experiments/gemm.md has the measurements. */
#pragma once

#include "gemm_mma.cuh"
#include "gemm_operands.cuh"
#include "lib/device/launch_bounds.cuh"

template <int ROWS_, int COLUMNS_, int DEPTH_, int WARP_ROWS_, int WARP_COLUMNS_, int STAGES_,
        int RESIDENT_>
struct gemm_double_shape {
	typedef double type;
	static const int ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_;
	static const int WARP_ROWS = WARP_ROWS_, WARP_COLUMNS = WARP_COLUMNS_;
	static const int STAGES = STAGES_, RESIDENT = RESIDENT_;
	static const int THREADS = 32 * (ROWS / WARP_ROWS) * (COLUMNS / WARP_COLUMNS);
	static const int DOWN = WARP_ROWS / 16, ACROSS = WARP_COLUMNS / 16; /* pieces of a warp */
};

/* A thread's part of a tile of C: DOWN quads of rows, 16 apart, in columns 0 and 1 of each of
 * ACROSS pieces. */
template <class S, bool VECTOR> struct double_tile {
	static const int QUADS = S::DOWN * 2 * S::ACROSS;
	static const int FETCH = QUADS * S::DEPTH / 64; /* per step */
	static const int BYTES = S::ROWS * S::COLUMNS * (int)sizeof(double);

	const gemm_args<double> &g;
	double *staged;                  /* this thread's pairs of elements, 2 THREADS apart */
	int row, column;                 /* this thread's first element within the tile */
	double *c;                       /* that element in C */
	int64_t rows_left, columns_left; /* rows and columns of C from there on */
	int64_t below;                   /* its distance below the diagonal of C */
	bool whole;                      /* the tile is computed entirely */
	int fetched;                     /* quads fetched */

	__device__ double_tile(const gemm_args<double> &args, double *memory) : g(args)
	{
		const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		const int warps_down = S::ROWS / S::WARP_ROWS;
		staged = memory + threadIdx.x * 2;
		row = warp % warps_down * S::WARP_ROWS + lane % 4 * 4;
		column = warp / warps_down * S::WARP_COLUMNS + lane / 4 * 2;
	}

	static DEVICE int row_of(int quad)
	{
		return quad % S::DOWN * 16;
	}

	static DEVICE int column_of(int quad)
	{
		return quad / (2 * S::DOWN) * 16 + quad / S::DOWN % 2;
	}

	/* Starts the tile whose first element is (tile_row, tile_column). */
	DEVICE void begin(int64_t tile_row, int64_t tile_column, int split)
	{
		const bool crossed = g.tiles.part != GEMM_WHOLE &&
		                     tile_row < tile_column + S::COLUMNS &&
		                     tile_column < tile_row + S::ROWS;
		const int64_t first_row = tile_row + row, first_column = tile_column + column;
		whole = !crossed && tile_row + S::ROWS <= g.m && tile_column + S::COLUMNS <= g.n;
		fetched = g.beta != 0 ? 0 : QUADS;
		rows_left = g.m - first_row;
		columns_left = g.n - first_column;
		below = first_row - first_column;
		c = g.c + split * g.c_split + first_row + first_column * g.ldc;
	}

	DEVICE bool has(int quad, int e) const
	{
		const int i = row_of(quad) + e, j = column_of(quad);
		return i < rows_left && j < columns_left &&
		       (g.tiles.part == GEMM_WHOLE ||
		               (g.tiles.part == GEMM_LOWER ? below + i >= j : below + i <= j));
	}

	DEVICE void fetch(void)
	{
		if (fetched >= QUADS)
			return;
		for (int x = 0; x < FETCH; x++, fetched++)
			fetch_quad(fetched);
	}

	DEVICE void fetch_quad(int quad) const
	{
		const double *from = c + row_of(quad) + column_of(quad) * g.ldc;
		double *to = staged + quad * 4 * S::THREADS;
		if (VECTOR && whole) {
			copy_start<16>(to, from);
			copy_start<16>(to + 2 * S::THREADS, from + 2);
			return;
		}
#pragma unroll
		for (int e = 0; e < 4; e++) {
			const bool there = whole || has(quad, e);
			copy_start<8>(to + e / 2 * 2 * S::THREADS + e % 2, there ? from + e : g.c,
			        there ? 8 : 0);
		}
	}

	DEVICE void fetch_rest(void)
	{
		while (fetched < QUADS)
			fetch();
		copy_commit();
		copy_wait<0>();
	}

	DEVICE void finish(const double (&sum)[S::ACROSS][2 * S::DOWN][4])
	{
		if (g.beta != 0)
			fetch_rest();
#pragma unroll
		for (int quad = 0; quad < QUADS; quad++) {
			const int p = quad % S::DOWN, h = quad / S::DOWN % 2,
			          j = quad / (2 * S::DOWN);
			double x[4];
#pragma unroll
			for (int e = 0; e < 4; e++)
				x[e] = g.alpha * sum[j][2 * p + e % 2][2 * h + e / 2];
			if (g.beta != 0)
				add_old(quad, x);
			store(quad, x);
		}
	}

	DEVICE void add_old(int quad, double (&x)[4]) const
	{
		const double *old = staged + quad * 4 * S::THREADS;
#pragma unroll
		for (int h = 0; h < 2; h++) {
			const double2 pair = *(const double2 *)(old + h * 2 * S::THREADS);
			x[2 * h] += g.beta * pair.x;
			x[2 * h + 1] += g.beta * pair.y;
		}
	}

	DEVICE void store(int quad, const double (&x)[4]) const
	{
		double *to = c + row_of(quad) + column_of(quad) * g.ldc;
		if (VECTOR && whole) {
			*(double2 *)to = make_double2(x[0], x[1]);
			*(double2 *)(to + 2) = make_double2(x[2], x[3]);
			return;
		}
#pragma unroll
		for (int e = 0; e < 4; e++)
			if (whole || has(quad, e))
				to[e] = x[e];
	}
};

template <class S, bool TA, bool TB, bool VECTOR>
struct gemm_double_block : gemm_operands<S, TA, TB, VECTOR> {
	typedef S shape;
	typedef gemm_operands<S, TA, TB, VECTOR> operands;
	using operands::A_SIZE;
	using operands::g;
	using operands::ring;
	using operands::STAGE;
	using typename operands::copy_a;
	using typename operands::copy_b;
	using typename operands::cursor;
	using typename operands::turn;
	using typename operands::unit;
	static const int Q = 1, K = 4 * Q; /* fours of k in one product; k */
	static const int PARTS = S::DEPTH / K;
	static_assert(PARTS % 2 == 0 && PARTS > 2, "two sets of registers, copies before the last");

	double_tile<S, VECTOR> c;
	int row, column, depth; /* this lane's first element in the tile's operands */

	__device__ gemm_double_block(const gemm_args<double> &args, double *memory)
	    : operands(args, memory), c(args, memory + S::STAGES * STAGE)
	{
		const int lane = threadIdx.x % 32;
		row = c.row - lane % 4 * 4 + lane / 4 * 2;
		column = c.column;
		depth = lane % 4;
	}

	/* a[.][2 q + h]: columns `column` + h of C at depth 4 q. */
	DEVICE void load(
	        double (&a)[S::ACROSS][2 * Q], double (&b)[2 * S::DOWN][Q], int stage, int k) const
	{
		const double *from = ring + stage * STAGE + (k + depth) * copy_a::PITCH + row;
#pragma unroll
		for (int q = 0; q < Q; q++)
#pragma unroll
			for (int p = 0; p < S::DOWN; p++) {
				const double2 v =
				        *(const double2 *)(from + 4 * q * copy_a::PITCH + 16 * p);
				b[2 * p][q] = v.x;
				b[2 * p + 1][q] = v.y;
			}
		from = ring + stage * STAGE + A_SIZE + (k + depth) * copy_b::PITCH + column;
#pragma unroll
		for (int q = 0; q < Q; q++)
#pragma unroll
			for (int j = 0; j < S::ACROSS; j++) {
				const double2 v =
				        *(const double2 *)(from + 4 * q * copy_b::PITCH + 16 * j);
				a[j][2 * q] = v.x;
				a[j][2 * q + 1] = v.y;
			}
	}

	/* A thread's registers: operands of this part of a step and the next, and sums. */
	struct registers {
		double a[2][S::ACROSS][2 * Q], b[2][2 * S::DOWN][Q];
		double sum[S::ACROSS][2 * S::DOWN][4];

		DEVICE void clear(void)
		{
#pragma unroll
			for (int j = 0; j < S::ACROSS; j++)
#pragma unroll
				for (int i = 0; i < 2 * S::DOWN; i++)
#pragma unroll
					for (int e = 0; e < 4; e++)
						sum[j][i][e] = 0;
		}
	};

	/* Adds DEPTH to the sums, K at a time, while the next part's operands are loaded. With
	 * WHOLE the copies of a later step are spread over the parts; copies of partial tiles go
	 * first. */
	template <bool WHOLE>
	DEVICE void step(struct registers &r, cursor &next, turn &buffers) const
	{
		double *to = ring + buffers.free * STAGE;
		const double *chain_a = next.a, *chain_b = next.b;
		if (!WHOLE)
			this->fetch(next, buffers.free);
#pragma unroll
		for (int x = 0; x < PARTS; x++) {
			if (x == PARTS - 1) {
				if (WHOLE)
					copy_commit();
				buffers.wait();
			}
			load(r.a[(x + 1) % 2], r.b[(x + 1) % 2], buffers.now, (x + 1) % PARTS * K);
			if (WHOLE && x == 0)
#pragma unroll
				for (int i = 0; i < copy_a::COPIES; i++)
					copy_a::start_one(to, chain_a, g.lda, i);
			if (WHOLE && x == 1)
#pragma unroll
				for (int i = 0; i < copy_b::COPIES; i++)
					copy_b::start_one(to + A_SIZE, chain_b, g.ldb, i);
#pragma unroll
			for (int j = 0; j < S::ACROSS; j++)
#pragma unroll
				for (int i = 0; i < 2 * S::DOWN; i++)
					mma_double(r.sum[j][i], r.a[x % 2][j], r.b[x % 2][i]);
		}
		if (WHOLE)
			this->advance(next, chain_a, chain_b);
	}
};

template <class S, bool TA, bool TB, bool VECTOR>
__global__ void __launch_bounds__(S::THREADS, sm_blocks(S::THREADS, S::RESIDENT))
        gemm_double_kernel(const __grid_constant__ gemm_args<double> g)
{
	extern __shared__ __align__(16) unsigned char gemm_memory[];
	gemm_double_block<S, TA, TB, VECTOR> block(g, (double *)gemm_memory);
	gemm_run(block);
}
