/* SPDX-License-Identifier: MIT */
/* Inverses of small triangles for trtri and larft. T of the compact WY form is the inverse of
 * the upper triangle of V^T V with 1/tau on its diagonal (Joffrain, Low, Quintana-Orti, van de
 * Geijn, van Zee, "Accumulating Householder transformations, revisited", 2006). tau = 0 needs no
 * special case, because only reciprocals of the diagonal are used.
 *
 * A block of threads has 32 columns of the inverse X. First each of its warps inverts a diagonal
 * tile, a column a lane. Then, tile row by tile row, the known rows of X are multiplied by the
 * triangle's tiles, and the sum by the inverse of the diagonal tile. Cost: one tile's
 * substitution, and the first block's n/32 (n/32 + 1)/2 - 1 dependent products of 32 x 32 tiles;
 * the triangle's tiles are loaded meanwhile. */
#include "block_kernels.h"
#include "block_tile.cuh"
#include "factor/kernels/gemm/gemm_copy.cuh"
#include "lib/device/current.h"

namespace
{

const int WARPS = TILE_WARPS;

enum reciprocals { OF_DIAGONAL, ONES, GIVEN };

template <typename T, bool upper> struct inversion {
	struct triangle<const T, upper> a;
	struct triangle<T, upper> inverse;
	int n, held; /* inverses of diagonal tiles at a time */
	enum reciprocals kind;
	const T *given;
};

/* Tiles in shared memory: one in use, the others in flight. */
template <typename T> constexpr int RING = sizeof(T) == 4 ? 4 : 2;

/* Shared memory: the ring, `held` inverses of diagonal tiles, 32 columns of X. */
template <typename T> int64_t bytes_of(int tiles, int held)
{
	return (int64_t)TILE *
	       ((RING<T> + held) * tile_pitch<T>(TILE) + tile_pitch<T>(tiles * TILE)) *
	       (int64_t)sizeof(T);
}

/* The tiles left of the diagonal, in the order in which a block needs them. */
struct position {
	int row, column;
};

__device__ __forceinline__ struct position next_tile(struct position p)
{
	return p.column + 1 < p.row ? (struct position){p.row, p.column + 1}
	                            : (struct position){p.row + 1, (int)blockIdx.x};
}

/* The factor of row i of X. */
template <typename T, bool upper>
__device__ T reciprocal_of(const struct inversion<T, upper> &v, int i)
{
	if (i >= v.n)
		return T(0);
	if (v.kind == GIVEN)
		return v.given[i];
	return v.kind == ONES ? T(1) : T(1) / *v.a.at(i, i);
}

/* A warp inverts diagonal tile number `row`: x becomes the lane's column. tile is the warp's
 * memory, in which the tile is column-major for 16-byte reads. */
template <typename T, bool upper>
__device__ void invert_tile(const struct inversion<T, upper> &v, int row, T *tile, T (&x)[TILE])
{
	const int pitch = tile_pitch<T>(TILE), lane = threadIdx.x & 31;
#pragma unroll 8
	for (int k = 0; k < TILE; k++) {
		const int i = upper ? k : k % 4 * 8 + lane % 8,
		          j = upper ? lane : k / 4 * 4 + lane / 8;
		const bool inside = j < i && row * TILE + i < v.n;
		copy_start<sizeof(T)>(tile + j * pitch + i, v.a.at(row * TILE + i, row * TILE + j),
		        inside ? (int)sizeof(T) : 0);
	}
	__pipeline_commit();
	const T reciprocal = reciprocal_of(v, row * TILE + lane);
	__pipeline_wait_prior(0);
	__syncwarp();
#pragma unroll
	for (int k = 0; k < TILE; k++)
		x[k] = T(0);
#pragma unroll
	for (int k = 0; k < TILE; k++) {
		x[k] = (T(k == lane) - x[k]) * __shfl_sync(0xffffffffu, reciprocal, k);
#pragma unroll
		for (int q = (k + 1) / 4 * 4; q < TILE; q += 4) {
			const auto quad = load_quad(tile + k * pitch + q);
#pragma unroll
			for (int e = 0; e < 4; e++)
				if (q + e > k)
					x[q + e] += x[k] * quad.x[e];
		}
	}
	__syncwarp();
}

/* The inverses of one diagonal tile a warp, from number `row` on; the first tile row's inverse
 * belongs to X. X is column-major in shared memory. */
template <typename T, bool upper>
__device__ void invert_diagonal(
        const struct inversion<T, upper> &v, int row, T *inverse, T *x, int pitch)
{
	const int lane = threadIdx.x & 31, mine = row + threadIdx.x / 32;
	T *tile = inverse + threadIdx.x / 32 * TILE * tile_pitch<T>(TILE), column[TILE];
	if (mine >= tiles_of(v.n) || mine >= row + v.held)
		return;
	invert_tile(v, mine, tile, column);
	if (mine == (int)blockIdx.x)
		store_row(x + lane * pitch + mine * TILE, column);
#pragma unroll
	for (int k = 0; k < TILE; k++)
		tile[k * tile_pitch<T>(TILE) + lane] = column[k];
}

template <typename T, bool upper>
__device__ void store_columns(const struct inversion<T, upper> &v, const T *x, int pitch)
{
	const int first = blockIdx.x * TILE;
	const struct share<!upper> mine = share_of<!upper>();
	for (int c = mine.i; c < TILE && first + c < v.n; c += mine.row_step)
#pragma unroll 4
		for (int i = mine.j; i < v.n; i += mine.column_step)
			*v.inverse.at(i, first + c) = i < first + c ? T(0) : x[c * pitch + i];
}

/* A thread's elements of a product of tiles, by columns in x. */
template <typename T>
__device__ __forceinline__ void put_product(T *x, int pitch, T sign, const T (&sum)[2][2])
{
#pragma unroll
	for (int r = 0; r < 2; r++)
#pragma unroll
		for (int c = 0; c < 2; c++)
			x[4 * c * pitch + 8 * r] = sign * sum[r][c];
}

template <typename T, bool upper>
__global__ void __launch_bounds__(32 * WARPS) invert_kernel(const struct inversion<T, upper> v)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const int warp = threadIdx.x / 32, li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	const int i0 = warp % 2 * 16 + li, j0 = warp / 2 * 8 + lj;
	const int tiles = tiles_of(v.n), ring = RING<T>, first = blockIdx.x;
	const int pitch = tile_pitch<T>(tiles * TILE), small = tile_pitch<T>(TILE);
	T *tile = (T *)memory, *inverse = tile + ring * TILE * small;
	T *x = inverse + v.held * TILE * small, *mine = x + j0 * pitch;
	struct position ahead = {first + 1, first};
	int step = 0;

	for (int i = 0; i < ring - 1; i++, ahead = next_tile(ahead)) {
		if (ahead.row < tiles)
			fetch_tile(v.a, ahead.row * TILE, ahead.column * TILE, v.n,
			        tile + i * TILE * small);
		__pipeline_commit();
	}
	for (int row = first; row < tiles; row++) {
		const int turn = (row - first) % v.held;
		T sum[2][2] = {}, last[2][2] = {};
		if (turn == 0) {
			__syncthreads(); /* no thread still uses the last inverses */
			invert_diagonal(v, row, inverse, x, pitch);
		}
		if (row == first)
			continue;
		for (int column = first; column < row; column++, step++, ahead = next_tile(ahead)) {
			__pipeline_wait_prior(ring - 2);
			__syncthreads(); /* the tile has arrived, the oldest place is free */
			if (ahead.row < tiles)
				fetch_tile(v.a, ahead.row * TILE, ahead.column * TILE, v.n,
				        tile + (step + ring - 1) % ring * TILE * small);
			__pipeline_commit();
			tile_product(tile + (step % ring * TILE + i0) * small, small,
			        mine + column * TILE, pitch, TILE, sum);
		}
		put_product(mine + row * TILE + i0, pitch, T(1), sum);
		__syncthreads();
		tile_product(inverse + (turn * TILE + i0) * small, small, mine + row * TILE, pitch,
		        TILE, last);
		__syncthreads();
		put_product(mine + row * TILE + i0, pitch, T(-1), last);
	}
	__syncthreads();
	store_columns(v, x, pitch);
}

template <typename T, bool upper>
int invert(struct matrix a, enum reciprocals kind, const void *given, struct matrix inverse,
        int64_t shared_bytes, void *stream)
{
	const int tiles = tiles_of(a.n);
	int held = tiles < WARPS ? tiles : WARPS;
	if (tiles == 0)
		return (int)cudaSuccess;
	while (held > 1 && bytes_of<T>(tiles, held) > shared_bytes)
		held--;
	const struct inversion<T, upper> v = {
		{(const T *)matrix_address(a), a.ld}, {(T *)matrix_address(inverse), inverse.ld},
		        (int)a.n, held, kind, (const T *)given
	};
	const int64_t bytes = bytes_of<T>(tiles, held);
	const int error = kernel_allow_shared((const void *)invert_kernel<T, upper>);
	if (error)
		return error;
	invert_kernel<<<(unsigned)tiles, 32 * WARPS, (size_t)bytes, (cudaStream_t)stream>>>(v);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int block_trtri(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse,
        int64_t shared_bytes, void *stream)
{
	const enum reciprocals kind = diag == UNIT ? ONES : OF_DIAGONAL;
	if (a.precision == SINGLE)
		return uplo == LOWER
		               ? invert<float, false>(a, kind, NULL, inverse, shared_bytes, stream)
		               : invert<float, true>(a, kind, NULL, inverse, shared_bytes, stream);
	return uplo == LOWER ? invert<double, false>(a, kind, NULL, inverse, shared_bytes, stream)
	                     : invert<double, true>(a, kind, NULL, inverse, shared_bytes, stream);
}

extern "C" int block_larft(
        struct matrix g, struct matrix tau, struct matrix t, int64_t shared_bytes, void *stream)
{
	const void *given = matrix_address(tau);
	return g.precision == SINGLE
	               ? invert<float, true>(g, GIVEN, given, t, shared_bytes, stream)
	               : invert<double, true>(g, GIVEN, given, t, shared_bytes, stream);
}

extern "C" int64_t block_larft_most(enum precision precision, int64_t shared_bytes)
{
	int tiles = BLOCK_LARFT_MAX / TILE;
	while (tiles > 1 && (precision == SINGLE ? bytes_of<float>(tiles, 1)
	                                         : bytes_of<double>(tiles, 1)) > shared_bytes)
		tiles--;
	return (int64_t)tiles * TILE;
}
