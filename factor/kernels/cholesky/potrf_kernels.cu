/* SPDX-License-Identifier: MIT */
/* Cholesky of a diagonal block and of the rows below it, in steps of up to 128 columns.
 *
 * factor_kernel: every block of threads has the 128 x 128 diagonal block in shared memory and, of
 * the rows below it, a strip of its own; all factorize the diagonal block, each solves for its
 * strip on the way. So there is neither a second kernel nor a signal between the diagonal block and
 * what is below it. Inside, 32 columns at a time: one warp factorizes the 32 x 32 diagonal tile, a
 * row a lane in registers, so that a column needs no barrier; the warps with the rows below solve
 * with its columns eight at a time as they come, those without rows update what is right of the
 * next 32 columns by those before. All blocks have the same diagonal block, bit for bit: the last
 * one to have read it stores it.
 *
 * Wider ones: what is right of the 128 columns is updated by rank_kernels.cu.
 *
 * Cost: a column is a chain of a reciprocal square root and three multiplications; a step of 128
 * columns adds two launches, the products of 4 x 4 tiles on one multiprocessor and one pass over
 * the strip and what is right of it.
 *
 * Cycles of the first warp, 4096 x 128 (H200, fp32 / fp64): until the first 32 columns are there
 * 6200 / 6500, tiles of the diagonal 18000 / 27000 (12400 / 21000 in a 64 x 64 matrix's pace), next
 * diagonal tiles and what holds them up 3 x 3000 / 3 x 2800, store 1400 / 2000. Every warp
 * factorizing the tile for itself took as much for the tiles and had the updates between them (5700
 * + 3100 + 1800 in fp32): 64 columns 7.7 -> 6.7 us, 256 44 -> 39, in fp64 10.4 -> 9.1 and 55 -> 49;
 * with 16384 rows below 256 columns 100 and 175 us. A half tile's update is 1100 cycles for a warp
 * alone, half of which are registers' bank conflicts, and 2100 for each of eight.
 * Tried then: copies through registers, 16 or 32 elements a lane (2200 cycles instead of 6200 until
 * the first columns are there, and as much more for the tiles); no work for warps of the first
 * one's scheduler; the tiles below only after the diagonal one; strips stored as they come; reads a
 * step ahead. Each shortened what it was meant to and lengthened the rest: 33000 to 39000 cycles in
 * all against 35300, n = 2048 in 0.54 ms against 0.49. What many warps with different unrolled code
 * have in common is the fetch of instructions (80 KB of them); but groups of eight columns in a
 * loop, 12 KB fewer, are slower (n = 1024, 2048 0.200 0.225, 0.45 0.48 ms). Whole factorizations of
 * n = 512, 1024, 2048, 4096 took 100, 199, 449, 1297 us when all warps brought everything first;
 * with the columns behind the first ones brought by warps that have no rows yet 100, 200, 446,
 * 1300; with the next diagonal tile in three quarters instead of two halves 99, 198, 439, 1283;
 * with each warp bringing its own first tile, and waiting for no other, 96, 192, 435, 1260. In fp64
 * (1024, 2048, 4096) 245, 563, 1539, then 245, 554, 1531; 235, 539, 1460; 239, 543, 1470. The
 * products as a function of their own instead of three copies, 10 KB fewer: the same in fp32, in
 * fp64 0.59 0.70 ms.
 *
 * Upper triangles took 1.03 to 1.14 times as long, 2.7 us a block. Their copies end where lanes
 * part, at a branch each; after a branch the next copy's address waits until this one has read its
 * own. A loop from the last row up, whose end is the diagonal, changed nothing. Without branches
 * (copy_or_set), by rows, whose four parts are stored together: 512 x 128 (fp32, cycles of the
 * first warp until its first columns are there, of the last until the rest, of a store; before on
 * an H200, then on an H100) lower 4350 7640 1550 -> 3520 7120 1220, upper 7240 6270 2880 -> 3040
 * 7410 880; upper by lower n = 256 to 2048 1.01 0.99 1.00 1.00, in fp64 1.00 1.01 1.02 1.03.
 *
 * Updates' blocks that may come when it stores, not when it begins: n = 1024, 2048, 4096, 8192 189
 * 427 1257 5586 -> 187 423 1266 5517 us, 4096 in fp64 1458 -> 1465 (H100).
 *
 * Tried for the chain: rsqrt() branches off for subnormal numbers in double precision, and around
 * the branch a column's work is not mixed with the next one's chain. Without it, subnormal pivots
 * given up, 64 columns 5.49 -> 4.82 us; with these by a second chain at the same time and a
 * choice 5.54 (H100). The same in single precision, which has no branch, 6.81 -> 7.17. Now tiles
 * whose diagonals allow no subnormal pivot go without: n = 512, 1024, 2048, 4096, 8192 104 219 477
 * 1362 5407 -> 94 199 439 1336 5420 us (H100). The next pivot from the reciprocal root's first
 * approximation, two operations fewer from pivot to pivot: 2 % longer.
 *
 * Tried for whole matrices: one kernel with a schedule of 64 x 64 tiles, left-looking, a block of
 * threads for the diagonal tiles, their inverses and the tiles next to them. Predicted for 64
 * columns of that chain 15000 cycles in fp32, for n = 1024, 2048, 4096 0.15, 0.30, 0.61 ms;
 * measured 42000 cycles (24000 for the diagonal tile and its inverse, 3900 for each product, 3600
 * for adding up its parts) and 0.35, 0.69, 1.39 ms, at n = 8192 5.8 ms: ahead of this kernel and
 * its updates at n = 4096 only. In double precision 0.33, 0.65, 1.31 ms, but wrong in the matrices'
 * last parts from n = 2048 on, for a reason that was not found. Warps whose lanes wait for a
 * barrier in shared memory each for themselves stay parted, and then take several times as long for
 * all that follows.
 */
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/blocks/block_tile.cuh"
#include "lib/device/early_launch.cuh"
#include "factor/kernels/gemm/gemm_mma.cuh"
#include "potrf_columns.cuh"
#include "potrf_copies.cuh"

namespace
{

const int QUARTERS = 3; /* of the diagonal tile that have a part of its triangle */

/* c -= a b^T for ROWS x 16 of c, half a tile or a quarter, k = 32; all stand by rows in shared
 * memory. */
template <int ROWS, typename T>
__device__ __forceinline__ void subtract_product(T *c, const T *a, const T *b, int pitch)
{
	const int li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	T sum[ROWS / 8][4] = {};
	tile_product(a + li * pitch, pitch, b + lj * pitch, pitch, TILE, sum);
#pragma unroll
	for (int i = 0; i < ROWS / 8; i++)
#pragma unroll
		for (int j = 0; j < 4; j++)
			c[(li + 8 * i) * pitch + lj + 4 * j] -= sum[i][j];
}

#if __CUDA_ARCH__ >= 800

/* On the tensor cores, which need a quarter of the reads of shared memory. Which of eight rows a
 * lane's row of theirs is (`mine`) makes its 16-byte reads, two neighbours along k, meet different
 * banks. */
template <int ROWS>
__device__ __forceinline__ void subtract_product(
        double *c, const double *a, const double *b, int pitch)
{
	const int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3, mine = g % 2 * 4 + g / 2;
	double sum[ROWS / 16][2][4] = {};
#pragma unroll
	for (int k = 0; k < TILE; k += 8) {
		const int at = mine * pitch + k + 2 * t;
		double left[ROWS / 16][4], right[2][2];
#pragma unroll
		for (int i = 0; i < ROWS / 8; i++) {
			const double2 v = *(const double2 *)(a + at + 8 * i * pitch);
			left[i / 2][i % 2] = v.x;
			left[i / 2][2 + i % 2] = v.y;
		}
#pragma unroll
		for (int j = 0; j < 2; j++) {
			const double2 v = *(const double2 *)(b + at + 8 * j * pitch);
			right[j][0] = v.x;
			right[j][1] = v.y;
		}
#pragma unroll
		for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
			for (int j = 0; j < 2; j++)
				mma_double(sum[i][j], left[i], right[j]);
	}
#pragma unroll
	for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int e = 0; e < 4; e++)
				c[(16 * i + e / 2 * 8 + mine) * pitch + 8 * j + e % 2 * 4 + t] -=
				        sum[i][j][e];
}

#endif

/* Minus the product of tile column `done`'s tiles: half a tile in tile row i, tile column j. */
template <typename T>
__device__ __forceinline__ void update_half(T *s, int pitch, int done, int i, int j, int half)
{
	const T *l = s + done * TILE;
	const int row = i * TILE, column = j * TILE + half * 16;
	subtract_product<TILE>(
	        s + row * pitch + column, l + row * pitch, l + column * pitch, pitch);
}

/* The same for a quarter of the diagonal tile `next`; there are three on and below the diagonal. */
template <typename T>
__device__ __forceinline__ void update_quarter(T *s, int pitch, int done, int next, int quarter)
{
	T *l = s + done * TILE;
	const int row = next * TILE + (quarter > 0) * TILE / 2,
	          column = next * TILE + (quarter > 1) * TILE / 2;
	subtract_product<TILE / 2>(
	        s + row * pitch + column, l + row * pitch, l + column * pitch, pitch);
}

/* What is right of the tile column after `done`, by warps `first` to WARPS - 1. */
template <typename T>
__device__ void update_far(T *s, int pitch, int done, int tile_columns, int strip_tiles, int first)
{
	const int square = tile_columns - done - 2, from = done + 2;
	const int tasks = 2 * (square * (square + 1) / 2 + strip_tiles * square);
	for (int task = (int)threadIdx.x / 32 - first; task < tasks; task += WARPS - first) {
		const struct tile_at tile = trapezoid_tile(task / 2, square);
		update_half(s, pitch, done, from + tile.i, from + tile.j, task % 2);
	}
}

/* The tile column after `done`: its diagonal tile by the first three warps, which is all that the
 * first one waits for; the tiles below, of `below` tiles in all, by the others and then the second
 * and third, but not the last one, which has no part in this. */
template <typename T> __device__ void update_next(T *s, int pitch, int done, int below)
{
	const int warp = threadIdx.x / 32, next = done + 1, others = WARPS - 1 - QUARTERS;
	if (warp < QUARTERS)
		update_quarter(s, pitch, done, next, warp);
	if (warp == 0) {
		barrier_wait(NEXT_DIAGONAL, QUARTERS);
		return;
	}
	if (warp < QUARTERS)
		barrier_arrive(NEXT_DIAGONAL, QUARTERS);
	const int turn = warp < QUARTERS ? others + warp - 1 : warp - QUARTERS;
	for (int task = 2 + turn; task < 2 * below; task += WARPS - 2)
		update_half(s, pitch, done, next + task / 2, next, task % 2);
	barrier_wait(NEXT_COLUMN, WARPS - 2);
}

/* Counts the block of threads, which has read the diagonal block. True in the last one; the count
 * is then 0 again. */
__device__ __forceinline__ bool last_reader(unsigned *readers)
{
	__threadfence();
	const bool last = atomicInc(readers, gridDim.x - 1) == gridDim.x - 1;
	__threadfence();
	return last;
}

template <typename T, bool upper>
__global__ void __launch_bounds__(32 * WARPS) factor_kernel(const struct block<T, upper> b)
{
	extern __shared__ __align__(16) unsigned char memory[];
	__shared__ int failed[128 / TILE]; /* column of each diagonal tile, TILE for none */
	const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
	const int tile_columns = tiles_of(b.width), strip_tiles = b.strip / TILE;
	const int columns = tile_columns * TILE, pitch = tile_pitch<T>(columns);
	struct tile_factor<T> *factor = (struct tile_factor<T> *)memory;
	T *s = (T *)(factor + 1);
	const bool apart = tile_columns + strip_tiles <= WARPS - LOADERS;
	bool last = false; /* known to the thread that counts */

	early_wait();
	const bool set = threadIdx.x == 0 && *b.info != 0; /* another block may be setting it */
	const bool counts = threadIdx.x == 32 * (WARPS - 1);
	if (warp < tile_columns + strip_tiles)
		load_first(b, s, pitch, columns, warp);
	if (!apart) {
		load_rest<WARPS>(b, s, pitch, columns);
		__pipeline_wait_prior(1);
	} else if (warp >= WARPS - LOADERS) {
		load_rest<LOADERS>(b, s, pitch, columns);
	} else {
		__pipeline_wait_prior(0);
	}
	__syncwarp();
	for (int p = 0; p < tile_columns; p++) {
		const int below = tile_columns + strip_tiles - p - 1;
		T *mine = s + ((p + warp) * TILE + lane) * pitch + p * TILE;
		T row[TILE];
		if (warp <= below)
			load_row(mine, row);
		if (warp == 0) {
			const int column = factor_tile(row, mine[lane], factor, 1 + below);
			if (lane == 0)
				failed[p] = column;
		} else if (warp <= below) {
			solve_tile(row, factor, 1 + below);
		} else if (p > 0) {
			update_far(s, pitch, p - 1, tile_columns, strip_tiles, below + 1);
		}
		if (warp <= below)
			store_row(mine, row);
		if (p == 0)
			__pipeline_wait_prior(0);
		const bool over = __syncthreads_or(set);
		if (p == 0 && counts)
			last = last_reader(b.readers);
		if (over)
			return;
		if (failed[p] < TILE) {
			if (blockIdx.x == 0 && threadIdx.x == 0)
				*b.info = b.first + p * TILE + failed[p] + 1;
			return;
		}
		if (p + 1 < tile_columns && warp < WARPS - 1)
			update_next(s, pitch, p, below);
	}
	early_release();
	store_block(b, s, pitch, columns, __syncthreads_or(last));
}

template <typename T, bool upper>
cudaError_t factor(struct block<T, upper> b, const struct block_room *room, void *stream)
{
	const int below = b.rows - b.width, word = (int)sizeof(T);
	static_assert(sizeof(struct tile_factor<T>) == TILE * (TILE + 1) * sizeof(T) &&
	                      tile_pitch<T>(TILE) == TILE + 16 / (int)sizeof(T),
	        "block_potrf_bytes");
	b.strip = below > 0 ? block_potrf_strip(
	                              b.width, below, word, room->blocks, room->shared_bytes)
	                    : 0;
	const int64_t bytes = block_potrf_bytes(b.width, b.strip, word);
	const int blocks = below > 0 ? (below + b.strip - 1) / b.strip : 1;
	return early_launch(factor_kernel<T, upper>, blocks, 32 * WARPS, bytes, b, stream);
}

template <typename T, bool upper>
int potrf(struct matrix a, int64_t first, int *info, const struct block_room *room, void *stream)
{
	const enum uplo uplo = upper ? UPPER : LOWER;
	const int64_t rows = upper ? a.n : a.m, columns = upper ? a.m : a.n;
	const int widest =
	        block_potrf_bytes(128, TILE, (int)sizeof(T)) <= room->shared_bytes ? 128 : 64;
	int error = cudaSuccess;
	for (int64_t done = 0; done < columns && error == cudaSuccess; done += widest) {
		const int64_t left = columns - done;
		const int width = (int)(left < widest ? left : widest);
		const struct block<T, upper> b = {
			{(T *)matrix_address(matrix_view(a, done, done, 1, 1)), a.ld},
			        (int)(rows - done), width, 0,
			        (int)(first + done), info, room->readers
		};
		error = (int)factor(b, room, stream);
		if (left == width || error != cudaSuccess)
			continue;
		const int64_t next = done + width;
		const struct matrix x = upper ? matrix_view(a, done, next, width, rows - next)
		                              : matrix_view(a, next, done, rows - next, width);
		const struct matrix c =
		        upper ? matrix_view(a, next, next, left - width, rows - next)
		              : matrix_view(a, next, next, rows - next, left - width);
		error = block_rank(uplo, -1, x, 1, c, info, stream);
	}
	return error;
}

} // namespace

extern "C" int block_potrf(enum uplo uplo, struct matrix a, int64_t first, int *info,
        const struct block_room *room, void *stream)
{
	if (a.precision == SINGLE)
		return uplo == LOWER ? potrf<float, false>(a, first, info, room, stream)
		                     : potrf<float, true>(a, first, info, room, stream);
	return uplo == LOWER ? potrf<double, false>(a, first, info, room, stream)
	                     : potrf<double, true>(a, first, info, room, stream);
}
