/* SPDX-License-Identifier: MIT */
/* Inverses of small triangles: trtri, and larft, because T of the compact WY form is the inverse of
 * the upper triangle of V^T V with 1/tau for its diagonal (Joffrain, Low, Quintana-Orti, van de
 * Geijn, van Zee, "Accumulating Householder transformations, revisited", 2006); tau = 0 needs no
 * case of its own, because only reciprocals of the diagonal are used.
 *
 * A block of threads has 32 columns of the inverse, X. Tile row by tile row it multiplies what is
 * there of X by the tiles of the triangle, then one warp, a column a lane, solves with the diagonal
 * tile. Cost: the first block's n/32 (n/32 - 1)/2 products of 32 x 32 tiles and n/32 solves, one
 * after another; the triangle's tiles arrive behind them. */
#include "block_kernels.h"
#include "block_tile.cuh"

namespace
{

const int WARPS = 8;

enum reciprocals { OF_DIAGONAL, ONES, GIVEN };

template <typename T, bool upper> struct inversion {
	struct triangle<const T, upper> a;
	struct triangle<T, upper> inverse;
	int n;
	enum reciprocals kind;
	const T *given;
};

/* Tiles in shared memory: one in use, the others on their way. */
template <typename T> constexpr int RING = sizeof(T) == 4 ? 4 : 2;

/* Of shared memory: the ring, 32 columns of X, the reciprocals. */
template <typename T> int64_t shared_bytes(int tiles)
{
	const int pitch = tile_pitch<T>(tiles * TILE);
	return (int64_t)(TILE * (RING<T> * tile_pitch<T>(TILE) + pitch) + tiles * TILE) *
	       (int64_t)sizeof(T);
}

/* The tiles that a block needs, in the order in which it needs them. */
struct position {
	int row, column;
};

__device__ __forceinline__ struct position next_tile(struct position p)
{
	return p.column < p.row ? (struct position){p.row, p.column + 1}
	                        : (struct position){p.row + 1, (int)blockIdx.x};
}

/* Starts the copy of a tile; a diagonal tile is turned around, so that its columns can be read in
 * 16-byte pieces, and comes without its diagonal. */
template <typename T, bool upper>
__device__ void fetch_tile(const struct inversion<T, upper> &v, struct position p, T *tile)
{
	const int pitch = tile_pitch<T>(TILE);
	for (int patch = threadIdx.x / 32; patch < TILE; patch += WARPS) {
		const struct cell e = cell_of<upper>(patch);
		const int i = p.row * TILE + e.i, j = p.column * TILE + e.j;
		T *to = tile + (p.row == p.column ? e.j * pitch + e.i : e.i * pitch + e.j);
		if (j < i && i < v.n)
			__pipeline_memcpy_async(to, v.a.at(i, j), sizeof(T));
		else
			*to = T(0);
	}
}

/* What row i of X is multiplied by. */
template <typename T, bool upper>
__device__ T reciprocal_of(const struct inversion<T, upper> &v, int i)
{
	if (i >= v.n)
		return T(0);
	if (v.kind == GIVEN)
		return v.given[i];
	return v.kind == ONES ? T(1) : T(1) / *v.a.at(i, i);
}

/* One warp, a column of X a lane: x holds the products of its 32 elements of a tile row with the
 * tiles left of the diagonal one and gets the elements. */
template <typename T>
__device__ void solve_tile(T *x, const T *tile, const T *reciprocal, bool diagonal)
{
	const int pitch = tile_pitch<T>(TILE), lane = threadIdx.x & 31;
	T y[TILE];
	load_row(x, y);
#pragma unroll
	for (int k = 0; k < TILE; k++) {
		const T one = diagonal && k == lane ? T(1) : T(0);
		const T value = (one - y[k]) * reciprocal[k];
		y[k] = value;
#pragma unroll
		for (int q = (k + 1) / 4 * 4; q < TILE; q += 4) {
			const auto quad = load_quad(tile + k * pitch + q);
#pragma unroll
			for (int e = 0; e < 4; e++)
				if (q + e > k)
					y[q + e] += value * quad.x[e];
		}
	}
	store_row(x, y);
}

/* X stands by columns in shared memory, one behind the other. */
template <typename T, bool upper>
__device__ void store_columns(const struct inversion<T, upper> &v, const T *x, int pitch)
{
	const int first = blockIdx.x * TILE, lane = threadIdx.x & 31,
	          patches = tiles_of(v.n) * TILE;
	for (int patch = threadIdx.x / 32; patch < patches; patch += WARPS) {
		const int c = upper ? lane % 8 + patch % 4 * 8 : patch % TILE;
		const int i = upper ? lane / 8 + patch / 4 * 4 : patch / TILE * TILE + lane;
		if (i < v.n && first + c < v.n)
			*v.inverse.at(i, first + c) = i < first + c ? T(0) : x[c * pitch + i];
	}
}

template <typename T, bool upper>
__global__ void __launch_bounds__(32 * WARPS) invert_kernel(const struct inversion<T, upper> v)
{
	extern __shared__ __align__(16) unsigned char memory[];
	const int warp = threadIdx.x / 32, li = (threadIdx.x & 31) / 4, lj = threadIdx.x & 3;
	const int i0 = warp % 2 * 16 + li, j0 = warp / 2 * 8 + lj;
	const int tiles = tiles_of(v.n), ring = RING<T>;
	const int pitch = tile_pitch<T>(tiles * TILE), tile_size = TILE * tile_pitch<T>(TILE);
	T *tile = (T *)memory, *x = tile + ring * tile_size, *reciprocal = x + TILE * pitch;
	struct position now = {(int)blockIdx.x, (int)blockIdx.x}, ahead = now;
	T sum[2][2] = {};

	for (int i = threadIdx.x; i < tiles * TILE; i += 32 * WARPS)
		reciprocal[i] = reciprocal_of(v, i);
	for (int i = 0; i < ring - 1; i++) {
		if (ahead.row < tiles)
			fetch_tile(v, ahead, tile + i * tile_size);
		__pipeline_commit();
		ahead = next_tile(ahead);
	}
	for (int step = 0; now.row < tiles;
	        step++, now = next_tile(now), ahead = next_tile(ahead)) {
		const T *here = tile + step % ring * tile_size;
		const bool solves = now.row == now.column;
		if (solves) {
#pragma unroll
			for (int r = 0; r < 2; r++)
#pragma unroll
				for (int c = 0; c < 2; c++) {
					x[(j0 + 4 * c) * pitch + now.row * TILE + i0 + 8 * r] =
					        sum[r][c];
					sum[r][c] = T(0);
				}
		}
		__pipeline_wait_prior(ring - 2);
		__syncthreads(); /* the tile and the products are there, the oldest tile is free */
		if (ahead.row < tiles)
			fetch_tile(v, ahead, tile + (step + ring - 1) % ring * tile_size);
		__pipeline_commit();
		if (!solves) {
			tile_product(here + i0 * tile_pitch<T>(TILE), tile_pitch<T>(TILE),
			        x + j0 * pitch + now.column * TILE, pitch, TILE, sum);
		} else {
			if (warp == 0)
				solve_tile(x + (threadIdx.x & 31) * pitch + now.row * TILE, here,
				        reciprocal + now.row * TILE, now.row == (int)blockIdx.x);
			__syncthreads();
		}
	}
	store_columns(v, x, pitch);
}

template <typename T, bool upper>
int invert(struct matrix a, enum reciprocals kind, const void *given, struct matrix inverse,
        void *stream)
{
	const struct inversion<T, upper> v = {
		{(const T *)a.data + a.offset, a.ld},
		        {(T *)inverse.data + inverse.offset, inverse.ld}, (int)a.n, kind,
		        (const T *)given
	};
	const int64_t bytes = shared_bytes<T>(tiles_of(a.n));
	if (a.n == 0)
		return (int)cudaSuccess;
	cudaError_t error = cudaFuncSetAttribute((const void *)invert_kernel<T, upper>,
	        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return (int)error;
	invert_kernel<<<(unsigned)tiles_of(a.n), 32 * WARPS, (size_t)bytes, (cudaStream_t)stream>>>(
	        v);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int block_trtri(
        enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse, void *stream)
{
	const enum reciprocals kind = diag == UNIT ? ONES : OF_DIAGONAL;
	if (a.precision == SINGLE)
		return uplo == LOWER ? invert<float, false>(a, kind, NULL, inverse, stream)
		                     : invert<float, true>(a, kind, NULL, inverse, stream);
	return uplo == LOWER ? invert<double, false>(a, kind, NULL, inverse, stream)
	                     : invert<double, true>(a, kind, NULL, inverse, stream);
}

extern "C" int block_larft(struct matrix g, struct matrix tau, struct matrix t, void *stream)
{
	const void *given = matrix_address(tau);
	return g.precision == SINGLE ? invert<float, true>(g, GIVEN, given, t, stream)
	                             : invert<double, true>(g, GIVEN, given, t, stream);
}
