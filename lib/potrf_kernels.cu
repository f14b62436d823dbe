/* SPDX-License-Identifier: MIT */
/* Cholesky of a diagonal block, in steps of up to 128 columns of two kernels each.
 *
 * factor_kernel: every block of threads has the 128 x 128 diagonal block in shared memory and, of
 * the rows below it, a strip of its own; all factorize the diagonal block, each solves for its
 * strip on the way. Inside, 32 columns at a time: a warp holds 32 rows of them in registers next to
 * the 32 x 32 diagonal tile, which every warp factorizes, so that a column needs no barrier; then
 * the block's warps update what is right of these columns.
 *
 * trail_kernel: the update of what is right of the 128 columns, a tile a block.
 *
 * Cost: a column is a chain of a reciprocal square root and three multiplications; a step of 128
 * columns adds two launches, the products of 4 x 4 tiles on one multiprocessor and one pass over
 * the strip and the trailing block. */
#include "block_kernels.h"
#include "block_tile.cuh"

namespace
{

const int WARPS = TILE_WARPS;
const int STRIP = TILE; /* rows of a strip */

template <typename T, bool upper> struct block {
	struct triangle<T, upper> a;
	int rows, width; /* of this step: rows from its first one on, and its columns */
	int first;       /* row of the matrix */
	int *info;
	struct triangle<T, upper> result; /* where the factorized diagonal block goes: not into a
	                                     when other blocks may still have to read it there */
};

__device__ __forceinline__ float reciprocal_root(float p)
{
	const float r = rsqrtf(p), half = 0.5f * r;
	const float better = fmaf(fmaf(-p * r, r, 1.0f), half, r);
	return p < INFINITY ? better : r;
}

__device__ __forceinline__ double reciprocal_root(double p)
{
	return rsqrt(p);
}

/* The factor of a 32 x 32 tile, of which each lane has a row, d; and 32 rows x solved against it, a
 * row a lane. What is above d's diagonal is ignored. column is the warp's memory for two columns.
 * Returns the first column whose pivot is not positive, TILE when there is none.
 *
 * What makes the next column, its pivot p, the two entries below the diagonal of the column before
 * it (u and w) and the pivot after it as it stands (v), all lanes know ahead of time: neither
 * shuffles nor shared memory are in the chain from pivot to pivot. */
template <typename T>
__device__ __forceinline__ int factor_tile(T (&d)[TILE], T (&x)[TILE], T *column)
{
	const unsigned all = 0xffffffffu;
	const int lane = threadIdx.x & 31;
	T p = __shfl_sync(all, d[0], 0), v = __shfl_sync(all, d[1], 1);
	T u = __shfl_sync(all, d[0], 1), w = __shfl_sync(all, d[0], 2);
	int failed = TILE;
#pragma unroll
	for (int j = 0; j < TILE; j++) {
		if (!(p > T(0)))
			failed = min(failed, j);
		const T r = reciprocal_root(p);
		const T l = d[j] * r, y = x[j] * r, l1 = u * r, l2 = w * r;
		d[j] = l;
		x[j] = y;
		T *here = column + (j & 1) * TILE;
		here[lane] = l;
		if (j + 1 < TILE) {
			p = minus_product(v, l1, l1);
			d[j + 1] = minus_product(d[j + 1], l, l1);
			x[j + 1] = minus_product(x[j + 1], y, l1);
		}
		if (j + 2 < TILE) {
			d[j + 2] = minus_product(d[j + 2], l, l2);
			x[j + 2] = minus_product(x[j + 2], y, l2);
			u = __shfl_sync(all, d[j + 1], j + 2);
			w = __shfl_sync(all, d[j + 1], (j + 3) % TILE);
			v = __shfl_sync(all, d[j + 2], j + 2);
		}
		if (j + 3 >= TILE)
			continue;
		__syncwarp();
#pragma unroll
		for (int q = (j + 3) / 4 * 4; q < TILE; q += 4) {
			const auto quad = load_quad(here + q);
#pragma unroll
			for (int e = 0; e < 4; e++)
				if (q + e >= j + 3) {
					d[q + e] = minus_product(d[q + e], l, quad.x[e]);
					x[q + e] = minus_product(x[q + e], y, quad.x[e]);
				}
		}
	}
	return failed;
}

struct cell {
	int i, j;
};

/* The tile of the update that is number `task` of a matrix with `square` tile rows that end at the
 * diagonal and `strip` full ones: the square's tiles by rows, then the strip's. */
__device__ __forceinline__ struct cell update_tile(int task, int square)
{
	for (int i = 0; i < square; i++) {
		if (task <= i)
			return {i, task};
		task -= i + 1;
	}
	return {square + task / square, task % square};
}

/* What is right of tile column `done`, minus the product of that column's tiles. A warp takes
 * half a tile at a time. */
template <typename T>
__device__ void update_rest(T *s, int pitch, int done, int tile_columns, int strip_tiles)
{
	const int warp = threadIdx.x / 32, li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	const int square = tile_columns - done - 1;
	const int tasks = 2 * (square * (square + 1) / 2 + strip_tiles * square);
	const T *l = s + done * TILE;
	for (int task = warp; task < tasks; task += WARPS) {
		const struct cell tile = update_tile(task / 2, square);
		const int i = (done + 1 + tile.i) * TILE + li;
		const int j = (done + 1 + tile.j) * TILE + task % 2 * 16 + lj;
		T sum[4][4] = {};
		tile_product(l + i * pitch, pitch, l + j * pitch, pitch, TILE, sum);
#pragma unroll
		for (int r = 0; r < 4; r++)
#pragma unroll
			for (int c = 0; c < 4; c++)
				s[(i + 8 * r) * pitch + j + 4 * c] -= sum[r][c];
	}
}

/* The row of the matrix that stands in row i of shared memory; behind the diagonal block's rows
 * come those of the strip. */
template <typename T, bool upper>
__device__ __forceinline__ int row_of(const struct block<T, upper> &b, int i, int columns)
{
	return i < columns ? i : b.width + (int)blockIdx.x * STRIP + i - columns;
}

/* Whether row i of shared memory stands for a row of the matrix. */
template <typename T, bool upper>
__device__ __forceinline__ bool is_row(const struct block<T, upper> &b, int i, int columns)
{
	return i < columns ? i < b.width : row_of(b, i, columns) < b.rows;
}

/* Calls f(i, j) for the thread's share of what is on and below the diagonal; the inner loop is the
 * longer one in both orders. */
template <bool upper, typename F>
__device__ __forceinline__ void each_below(int rows, int columns, const F &f)
{
	const struct share<upper> mine = share_of<upper>();
	if (upper) {
		for (int j = mine.j; j < columns; j += mine.column_step)
#pragma unroll 4
			for (int i = j / TILE * TILE + mine.i; i < rows; i += mine.row_step)
				if (i >= j)
					f(i, j);
	} else {
		for (int i = mine.i; i < rows; i += mine.row_step) {
			const int last = min(i, columns - 1);
#pragma unroll 4
			for (int j = mine.j; j <= last; j += mine.column_step)
				f(i, j);
		}
	}
}

/* Starts the copy to shared memory. Rows beyond the matrix become the identity's, so that its
 * factor and the strip's solution stay finite. */
template <typename T, bool upper>
__device__ void load_block(const struct block<T, upper> &b, T *s, int pitch, int rows, int columns)
{
	each_below<upper>(rows, columns, [&](int i, int j) {
		T *to = s + i * pitch + j;
		if (is_row(b, i, columns))
			__pipeline_memcpy_async(to, b.a.at(row_of(b, i, columns), j), sizeof(T));
		else
			*to = T(i == j);
	});
	__pipeline_commit();
}

/* The diagonal block is the first block of threads' to store. */
template <typename T, bool upper>
__device__ void store_block(
        const struct block<T, upper> &b, const T *s, int pitch, int rows, int columns)
{
	each_below<upper>(rows, columns, [&](int i, int j) {
		const T value = s[i * pitch + j];
		if (!is_row(b, i, columns))
			return;
		if (i >= columns)
			*b.a.at(row_of(b, i, columns), j) = value;
		else if (blockIdx.x == 0)
			*b.result.at(i, j) = value;
	});
}

template <typename T, bool upper>
__global__ void __launch_bounds__(32 * WARPS) factor_kernel(const struct block<T, upper> b)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
	const int tile_columns = tiles_of(b.width),
	          strip_tiles = b.rows > b.width ? STRIP / TILE : 0;
	const int tile_rows = tile_columns + strip_tiles,
	          pitch = tile_pitch<T>(tile_columns * TILE);
	T *column = (T *)memory + warp * 2 * TILE;
	T *s = (T *)memory + WARPS * 2 * TILE;

	load_block(b, s, pitch, tile_rows * TILE, tile_columns * TILE);
	/* one thread asks: another block may be setting it */
	const bool over = __syncthreads_or(threadIdx.x == 0 && *b.info != 0);
	__pipeline_wait_prior(0);
	if (over)
		return;
	__syncthreads();
	for (int p = 0; p < tile_columns; p++) {
		/* the last tile column has no rows below when there is no strip: warp 0 has the
		 * diagonal tile twice */
		const int below = tile_rows - p - 1;
		const bool works = warp < max(below, 1);
		T *diagonal = s + (p * TILE + lane) * pitch + p * TILE;
		T *mine = diagonal + (below > 0 ? (warp + 1) * TILE * pitch : 0);
		T d[TILE], x[TILE];
		int failed = TILE;
		if (works) {
			load_row(diagonal, d);
			load_row(mine, x);
		}
		__syncthreads();
		if (works) {
			failed = factor_tile(d, x, column);
			if (below > 0)
				store_row(mine, x);
			if (warp == 0)
				store_row(diagonal, d);
		}
		if (__syncthreads_or(failed < TILE)) {
			if (blockIdx.x == 0 && threadIdx.x == 0)
				*b.info = b.first + p * TILE + failed + 1;
			return;
		}
		update_rest(s, pitch, p, tile_columns, strip_tiles);
		__syncthreads();
	}
	store_block(b, s, pitch, tile_rows * TILE, tile_columns * TILE);
}

/* Tile (i,j) of the trailing block minus the product of the strip's tiles i and j; behind the
 * blocks of these, those that bring the factorized diagonal block to its place. */
template <typename T, bool upper>
__global__ void __launch_bounds__(32 * WARPS) trail_kernel(const struct block<T, upper> b)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const struct share<upper> mine = share_of<upper>();
	const int warp = threadIdx.x / 32, li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	const int trail_tiles = tiles_of(b.rows - b.width);
	const int pitch = tile_pitch<T>(b.width), count = trail_tiles * (trail_tiles + 1) / 2;
	T *x = (T *)memory, *y = x + TILE * pitch;
	if (*b.info != 0)
		return;
	if ((int)blockIdx.x >= count) {
		const struct cell tile = update_tile((int)blockIdx.x - count, b.width / TILE);
		for (int i = tile.i * TILE + mine.i; i < (tile.i + 1) * TILE; i += mine.row_step)
			for (int j = tile.j * TILE + mine.j; j < (tile.j + 1) * TILE && j <= i;
			        j += mine.column_step)
				*b.a.at(i, j) = *b.result.at(i, j);
		return;
	}
	const struct cell tile = update_tile((int)blockIdx.x, trail_tiles);
	const int i0 = b.width + tile.i * TILE, j0 = b.width + tile.j * TILE;
	for (int i = mine.i; i < TILE; i += mine.row_step) {
		const size_t no_x = i0 + i < b.rows ? 0 : sizeof(T);
		const size_t no_y = j0 + i < b.rows ? 0 : sizeof(T);
#pragma unroll 4
		for (int j = mine.j; j < b.width; j += mine.column_step) {
			__pipeline_memcpy_async(
			        x + i * pitch + j, b.a.at(i0 + i, j), sizeof(T), no_x);
			__pipeline_memcpy_async(
			        y + i * pitch + j, b.a.at(j0 + i, j), sizeof(T), no_y);
		}
	}
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	const int i1 = warp % 2 * 16 + li, j1 = warp / 2 * 8 + lj;
	T sum[2][2] = {};
	tile_product(x + i1 * pitch, pitch, y + j1 * pitch, pitch, b.width, sum);
#pragma unroll
	for (int r = 0; r < 2; r++)
#pragma unroll
		for (int c = 0; c < 2; c++) {
			const int i = i0 + i1 + 8 * r, j = j0 + j1 + 4 * c;
			if (i < b.rows && j <= i)
				*b.a.at(i, j) -= sum[r][c];
		}
}

/* Shared memory of factor_kernel and of trail_kernel, bytes. */
template <typename T> int64_t factor_bytes(int width, int strip)
{
	const int columns = tiles_of(width) * TILE;
	return ((int64_t)(columns + strip) * tile_pitch<T>(columns) + WARPS * 2 * TILE) *
	       (int64_t)sizeof(T);
}

template <typename T> int64_t trail_bytes(int width)
{
	return (int64_t)2 * TILE * tile_pitch<T>(width) * (int64_t)sizeof(T);
}

template <typename K, typename B>
cudaError_t launch(K kernel, int blocks, int64_t bytes, const B &b, void *stream)
{
	cudaError_t error = cudaFuncSetAttribute(
	        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return error;
	kernel<<<(unsigned)blocks, 32 * WARPS, (size_t)bytes, (cudaStream_t)stream>>>(b);
	return cudaGetLastError();
}

template <typename T, bool upper>
int potrf(struct matrix a, int64_t first, int *info, void *scratch, int64_t shared_bytes,
        void *stream)
{
	const int widest = factor_bytes<T>(128, STRIP) <= shared_bytes ? 128 : 64;
	cudaError_t error = cudaSuccess;
	for (int64_t done = 0; done < a.n && error == cudaSuccess; done += widest) {
		const struct matrix rest = matrix_view(a, done, done, a.n - done, a.n - done);
		const int rows = (int)rest.n, width = rows < widest ? rows : widest;
		const int trail = rows - width, tiles = tiles_of(trail);
		struct block<T, upper> b = {
			{(T *)matrix_address(rest), a.ld}, rows, width, (int)(first + done), info,
			{
			}
		};
		b.result = trail > 0 ? triangle<T, upper>{(T *)scratch, width} : b.a;
		const int strips = (trail + STRIP - 1) / STRIP;
		error = launch(factor_kernel<T, upper>, strips > 0 ? strips : 1,
		        factor_bytes<T>(width, trail > 0 ? STRIP : 0), b, stream);
		if (trail > 0 && error == cudaSuccess)
			error = launch(trail_kernel<T, upper>,
			        tiles * (tiles + 1) / 2 +
			                tiles_of(width) * (tiles_of(width) + 1) / 2,
			        trail_bytes<T>(width), b, stream);
	}
	return (int)error;
}

} // namespace

extern "C" int block_potrf(enum uplo uplo, struct matrix a, int64_t first, int *info, void *scratch,
        int64_t shared_bytes, void *stream)
{
	if (a.precision == SINGLE)
		return uplo == LOWER
		               ? potrf<float, false>(a, first, info, scratch, shared_bytes, stream)
		               : potrf<float, true>(a, first, info, scratch, shared_bytes, stream);
	return uplo == LOWER ? potrf<double, false>(a, first, info, scratch, shared_bytes, stream)
	                     : potrf<double, true>(a, first, info, scratch, shared_bytes, stream);
}
