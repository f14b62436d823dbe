/* SPDX-License-Identifier: MIT */
/* Symmetric updates of small rank, C = alpha X X^T + beta C, of a triangle and what is below it,
 * where a whole product takes less time than a large tile does: a block of threads has one tile of
 * 32 x 32, all of its operands are on their way at once, and the inner dimension is shared out
 * among four pairs of warps, whose sums are added in their order.
 *
 * Cost of a tile: 32 x 32 x k multiply-adds on one multiprocessor, two of its operands' tiles read
 * through L2, C read and written once. */
#include "block_kernels.h"
#include "block_tile.cuh"
#include "early_launch.cuh"

namespace
{

const int GROUPS = TILE_WARPS / 2;                /* of warps; each has a part of k */
const int MINE = TILE * TILE / (32 * TILE_WARPS); /* elements of C of a thread */

template <typename T, bool upper> struct rank_update {
	struct triangle<const T, upper> x;
	struct triangle<T, upper> c;
	int rows, columns, k;
	T alpha, beta;
	const int *info;
};

/* k with zeros behind it: every group of warps takes four at a time. */
__host__ __device__ __forceinline__ int padded(int k)
{
	return (k + 4 * GROUPS - 1) / (4 * GROUPS) * (4 * GROUPS);
}

/* Starts the copy of TILE rows of x from row i0 on. */
template <typename T, bool upper>
__device__ __forceinline__ void fetch_rows(
        const struct rank_update<T, upper> &u, int i0, T *tile, int depth, int pitch)
{
	const struct share<upper> mine = share_of<upper>();
	const int64_t step = mine.column_step * (upper ? 1 : u.x.lda);
#pragma unroll
	for (int i = mine.i; i < TILE; i += mine.row_step) {
		const int end = i0 + i < u.rows ? u.k : 0;
		const T *at = u.x.at(i0 + i, mine.j);
#pragma unroll 4
		for (int k = mine.j; k < depth; k += mine.column_step, at += step)
			__pipeline_memcpy_async(tile + i * pitch + k, k < end ? at : u.x.a,
			        sizeof(T), k < end ? 0 : sizeof(T));
	}
}

template <typename T, bool upper>
__global__ void __launch_bounds__(32 * TILE_WARPS) rank_kernel(const struct rank_update<T, upper> u)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const struct share<upper> mine = share_of<upper>();
	const int warp = threadIdx.x / 32, li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	const int group = warp / 2, column = warp % 2 * (TILE / 2) + lj;
	const struct tile_at tile = trapezoid_tile((int)blockIdx.x, tiles_of(u.columns));
	const int i0 = tile.i * TILE, j0 = tile.j * TILE;
	const int depth = padded(u.k), part = depth / GROUPS, pitch = tile_pitch<T>(depth);
	const int sum_pitch = tile_pitch<T>(TILE);
	T *x = (T *)memory, *y = x + TILE * pitch, *sums = (T *)memory, value[MINE];
	early_begin();
	if (u.info && *u.info != 0)
		return;
	fetch_rows(u, i0, x, depth, pitch);
	fetch_rows(u, j0, y, depth, pitch);
	__pipeline_commit();
#pragma unroll
	for (int q = 0; q < MINE; q++) {
		const int i = i0 + mine.i + (upper ? 8 * q : 0);
		const int j = j0 + mine.j + (upper ? 0 : 8 * q);
		const bool inside = i < u.rows && j < u.columns && j <= i;
		value[q] = inside && u.beta != T(0) ? u.beta * *u.c.at(i, j) : T(0);
	}
	__pipeline_wait_prior(0);
	__syncthreads();

	T sum[4][4] = {};
	tile_product(x + li * pitch + group * part, pitch, y + column * pitch + group * part, pitch,
	        part, sum);
	__syncthreads();
#pragma unroll
	for (int r = 0; r < 4; r++)
#pragma unroll
		for (int c = 0; c < 4; c++)
			sums[(group * TILE + li + 8 * r) * sum_pitch + column + 4 * c] = sum[r][c];
	__syncthreads();
#pragma unroll
	for (int q = 0; q < MINE; q++) {
		const int i = mine.i + (upper ? 8 * q : 0), j = mine.j + (upper ? 0 : 8 * q);
		T total = T(0);
#pragma unroll
		for (int g = 0; g < GROUPS; g++)
			total += sums[(g * TILE + i) * sum_pitch + j];
		if (i0 + i < u.rows && j0 + j < u.columns && j0 + j <= i0 + i)
			*u.c.at(i0 + i, j0 + j) = value[q] + u.alpha * total;
	}
}

template <typename T, bool upper>
int launch(
        double alpha, struct matrix x, double beta, struct matrix c, const int *info, void *stream)
{
	const int64_t rows = upper ? c.n : c.m, columns = upper ? c.m : c.n;
	const int k = (int)(upper ? x.m : x.n);
	const int64_t bytes = block_rank_bytes(k, x.precision);
	const struct rank_update<T, upper> u = {
		{(const T *)matrix_address(x), x.ld}, {(T *)matrix_address(c), c.ld}, (int)rows,
		        (int)columns, k, (T)alpha, (T)beta, info
	};
	if (rows == 0 || columns == 0)
		return (int)cudaSuccess;
	return (int)early_launch(rank_kernel<T, upper>, block_rank_tiles(rows, columns),
	        32 * TILE_WARPS, bytes, u, stream);
}

template <typename T> int64_t bytes_of(int64_t k)
{
	const int64_t operands = 2 * TILE * tile_pitch<T>(padded((int)k));
	const int64_t sums = GROUPS * TILE * tile_pitch<T>(TILE);
	return (operands > sums ? operands : sums) * (int64_t)sizeof(T);
}

} // namespace

extern "C" int64_t block_rank_bytes(int64_t k, enum precision precision)
{
	return precision == SINGLE ? bytes_of<float>(k) : bytes_of<double>(k);
}

extern "C" int block_rank(enum uplo uplo, double alpha, struct matrix x, double beta,
        struct matrix c, const int *info, void *stream)
{
	if (c.precision == SINGLE)
		return uplo == LOWER ? launch<float, false>(alpha, x, beta, c, info, stream)
		                     : launch<float, true>(alpha, x, beta, c, info, stream);
	return uplo == LOWER ? launch<double, false>(alpha, x, beta, c, info, stream)
	                     : launch<double, true>(alpha, x, beta, c, info, stream);
}
