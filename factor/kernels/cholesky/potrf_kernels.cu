/* SPDX-License-Identifier: MIT */
/* Cholesky of a diagonal block and the rows below it, in steps of up to 128 columns.
 *
 * Every block of threads keeps the 128 x 128 diagonal block in shared memory, with a strip of the
 * rows below it. All blocks factorize the diagonal block; each solves for its own strip meanwhile.
 * This needs no second kernel and no signal between blocks. Within a step, one warp factorizes a
 * 32 x 32 diagonal tile with one row a lane in registers, and a column needs no barrier. Warps with
 * rows below solve with its columns, eight at a time. Warps without rows update the columns right
 * of the next 32. All blocks compute the same bits; the last block that has read the diagonal block
 * stores it. rank_kernels.cu updates the columns right of the 128.
 *
 * Copies have no branches: after a branch, a copy's address waits until the copy before it has read
 * its own. Lanes that wait for a shared-memory barrier one by one stay divergent and run much
 * slower.
 *
 * Cost: a column is a chain of a reciprocal square root and three multiplications. A step of 128
 * columns adds two launches, the products of 4 x 4 tiles on one multiprocessor, and one pass over
 * the strip and the columns right of it. Experiments: docs/experiments/cholesky-block.md. */
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/blocks/block_tile.cuh"
#include "lib/device/early_launch.cuh"
#include "factor/kernels/gemm/gemm_mma.cuh"
#include "potrf_columns.cuh"
#include "potrf_copies.cuh"

namespace
{

const int QUARTERS = 3; /* quarters of the diagonal tile with a part of its triangle */

/* c -= a b^T for ROWS x 16 of c, half a tile or a quarter, k = 32; all are row-major in shared
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

/* On the tensor cores, which need a quarter of the reads of shared memory. The lane's row among
 * eight (`mine`) is chosen so that 16-byte reads of two neighbours along k have no bank
 * conflicts. */
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

/* Subtracts the product of tile column `done`'s tiles from half a tile at tile row i, tile
 * column j. */
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

/* Updates the columns right of the tile column after `done`, by warps `first` to WARPS - 1. */
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

/* Updates the tile column after `done`. The first three warps take its diagonal tile, for which
 * the first warp waits. The other warps, then the second and third, take the tiles below
 * (`below` tiles in all). The last warp takes none. */
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

/* Counts this block among the readers of the diagonal block. True in the last one, which resets
 * the count to 0. */
__device__ __forceinline__ bool last_reader(unsigned *readers)
{
	__threadfence();
	const bool last = atomicInc(readers, gridDim.x - 1) == gridDim.x - 1;
	__threadfence();
	return last;
}

/* ADDS: to the diagonal. */
template <typename T, bool upper, bool ADDS>
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
	for (int i = lane; ADDS && warp == 0 && i < columns; i += TILE) /* behind the lane's rows */
		copy_or_set(s + i * pitch + columns, b.added + i, true, i < b.width, T(0));
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
		if (ADDS && warp == 0) {
			mine[lane] += mine[columns - p * TILE];
			__syncwarp();
		}
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
	return early_launch(
	        b.added ? factor_kernel<T, upper, true> : factor_kernel<T, upper, false>, blocks,
	        32 * WARPS, bytes, b, stream);
}

template <typename T, bool upper>
int potrf(struct matrix a, struct matrix added, int64_t first, int *info,
        const struct block_room *room, void *stream)
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
			        (int)(first + done), info, room->readers,
			        added.m > 0 ? (const T *)matrix_address(added) + done : NULL
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

extern "C" int block_potrf(enum uplo uplo, struct matrix a, struct matrix added, int64_t first,
        int *info, const struct block_room *room, void *stream)
{
	if (a.precision == SINGLE)
		return uplo == LOWER ? potrf<float, false>(a, added, first, info, room, stream)
		                     : potrf<float, true>(a, added, first, info, room, stream);
	return uplo == LOWER ? potrf<double, false>(a, added, first, info, room, stream)
	                     : potrf<double, true>(a, added, first, info, room, stream);
}
