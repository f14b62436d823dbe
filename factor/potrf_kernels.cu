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

const int WARPS = 8;
const int STRIP = 32; /* rows of a strip */
const int TRAIL_WARPS = 4;

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
 * The next pivot p, the entry below the diagonal that makes the one after it (u), and that one as
 * it stands (v) are known to all lanes ahead of time, which keeps shuffles out of the chain from
 * pivot to pivot. */
template <typename T>
__device__ __forceinline__ int factor_tile(T (&d)[TILE], T (&x)[TILE], T *column)
{
	const unsigned all = 0xffffffffu;
	const int lane = threadIdx.x & 31;
	T p = __shfl_sync(all, d[0], 0), u = __shfl_sync(all, d[0], 1),
	  v = __shfl_sync(all, d[1], 1);
	int failed = TILE;
#pragma unroll
	for (int j = 0; j < TILE; j++) {
		if (!(p > T(0)))
			failed = min(failed, j);
		const T r = reciprocal_root(p);
		const T l = d[j] * r, y = x[j] * r, next = u * r;
		d[j] = l;
		x[j] = y;
		if (j + 1 == TILE)
			break;
		T *here = column + (j & 1) * TILE;
		here[lane] = l;
		p = minus_product(v, next, next);
		d[j + 1] = minus_product(d[j + 1], l, next);
		x[j + 1] = minus_product(x[j + 1], y, next);
		if (j + 2 == TILE)
			continue;
		u = __shfl_sync(all, d[j + 1], j + 2);
		__syncwarp();
#pragma unroll
		for (int q = (j + 2) / 4 * 4; q < TILE; q += 4) {
			const auto quad = load_quad(here + q);
#pragma unroll
			for (int e = 0; e < 4; e++) {
				if (q + e < j + 2)
					continue;
				d[q + e] = minus_product(d[q + e], l, quad.x[e]);
				x[q + e] = minus_product(x[q + e], y, quad.x[e]);
				if (q + e == j + 2)
					v = __shfl_sync(all, d[q + e], q + e);
			}
		}
	}
	return failed;
}

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

/* What is right of tile column `done`, minus the product of that column's tiles. A warp takes half
 * a tile at a time. */
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

/* Beyond the matrix: the identity, so that its factor and the strip's solution stay finite. */
template <typename T, bool upper>
__device__ void load_block(
        const struct block<T, upper> &b, T *s, int pitch, int tile_rows, int tile_columns)
{
	const int columns = tile_columns * TILE;
	for (int ti = 0; ti < tile_rows; ti++)
		for (int tj = 0; tj <= min(ti, tile_columns - 1); tj++)
#pragma unroll
			for (int patch = threadIdx.x / 32; patch < TILE; patch += WARPS) {
				const struct cell e = cell_of<upper>(patch);
				const int i = ti * TILE + e.i, j = tj * TILE + e.j;
				const int row = row_of(b, i, columns);
				T *to = s + i * pitch + j;
				if (j < b.width && row < (i < columns ? b.width : b.rows)) {
					if (j <= i)
						__pipeline_memcpy_async(
						        to, b.a.at(row, j), sizeof(T));
				} else {
					*to = T(i == j);
				}
			}
	__pipeline_commit();
	__pipeline_wait_prior(0);
}

template <typename T, bool upper>
__device__ void store_block(
        const struct block<T, upper> &b, const T *s, int pitch, int tile_rows, int tile_columns)
{
	const int columns = tile_columns * TILE;
	for (int ti = blockIdx.x == 0 ? 0 : tile_columns; ti < tile_rows; ti++)
		for (int tj = 0; tj <= min(ti, tile_columns - 1); tj++)
#pragma unroll
			for (int patch = threadIdx.x / 32; patch < TILE; patch += WARPS) {
				const struct cell e = cell_of<upper>(patch);
				const int i = ti * TILE + e.i, j = tj * TILE + e.j;
				const int row = row_of(b, i, columns);
				const T value = s[i * pitch + j];
				if (j > i || j >= b.width)
					continue;
				if (i >= columns && row < b.rows)
					*b.a.at(row, j) = value;
				if (i < columns && row < b.width)
					*b.result.at(row, j) = value;
			}
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

	/* one thread asks: another block may be setting it */
	if (__syncthreads_or(threadIdx.x == 0 && *b.info != 0))
		return;
	load_block(b, s, pitch, tile_rows, tile_columns);
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
	store_block(b, s, pitch, tile_rows, tile_columns);
}

/* Tile (i,j) of the trailing block minus the product of the strip's tiles i and j; behind the
 * blocks of these, those that bring the factorized diagonal block to its place. */
template <typename T, bool upper>
__global__ void __launch_bounds__(32 * TRAIL_WARPS) trail_kernel(const struct block<T, upper> b)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const int warp = threadIdx.x / 32, li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	const int trail = b.rows - b.width, trail_tiles = tiles_of(trail);
	const int pitch = tile_pitch<T>(b.width), count = trail_tiles * (trail_tiles + 1) / 2;
	T *x = (T *)memory, *y = x + TILE * pitch;
	if (*b.info != 0)
		return;
	if ((int)blockIdx.x >= count) {
		const struct cell tile = update_tile((int)blockIdx.x - count, b.width / TILE);
		for (int patch = warp; patch < TILE; patch += TRAIL_WARPS) {
			const struct cell e = cell_of<upper>(patch);
			const int i = tile.i * TILE + e.i, j = tile.j * TILE + e.j;
			if (j <= i)
				*b.a.at(i, j) = *b.result.at(i, j);
		}
		return;
	}
	const struct cell tile = update_tile((int)blockIdx.x, trail_tiles);
	for (int patch = warp; patch < 2 * b.width; patch += TRAIL_WARPS) {
		const bool second = patch >= b.width;
		const struct cell e = cell_of<upper>(second ? patch - b.width : patch);
		const int row = (second ? tile.j : tile.i) * TILE + e.i;
		T *to = (second ? y : x) + e.i * pitch + e.j;
		if (row < trail)
			__pipeline_memcpy_async(to, b.a.at(b.width + row, e.j), sizeof(T));
		else
			*to = T(0);
	}
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	T sum[4][2] = {};
	tile_product(x + li * pitch, pitch, y + (warp * 8 + lj) * pitch, pitch, b.width, sum);
#pragma unroll
	for (int r = 0; r < 4; r++)
#pragma unroll
		for (int c = 0; c < 2; c++) {
			const int i = tile.i * TILE + li + 8 * r;
			const int j = tile.j * TILE + warp * 8 + lj + 4 * c;
			if (i < trail && j <= i)
				*b.a.at(b.width + i, b.width + j) -= sum[r][c];
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
cudaError_t launch(K kernel, int blocks, int warps, int64_t bytes, const B &b, void *stream)
{
	cudaError_t error = cudaFuncSetAttribute(
	        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return error;
	kernel<<<(unsigned)blocks, 32 * warps, (size_t)bytes, (cudaStream_t)stream>>>(b);
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
		error = launch(factor_kernel<T, upper>, strips > 0 ? strips : 1, WARPS,
		        factor_bytes<T>(width, trail > 0 ? STRIP : 0), b, stream);
		if (trail > 0 && error == cudaSuccess)
			error = launch(trail_kernel<T, upper>,
			        tiles * (tiles + 1) / 2 +
			                tiles_of(width) * (tiles_of(width) + 1) / 2,
			        TRAIL_WARPS, trail_bytes<T>(width), b, stream);
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
