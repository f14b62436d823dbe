/* SPDX-License-Identifier: MIT */
/* Symmetric updates of small rank, C = alpha X X^T + beta C, of a triangle and the rows below it
 * (or columns right of it), for sizes where a whole product takes less time than one large tile. A
 * block of threads computes one 32 x 32 tile; a multiprocessor holds several blocks. Up to 128 of
 * the inner dimension of the operands are in flight at once, in parts for lower X; each part is
 * multiplied while the next arrive. Four pairs of warps share a part, and their sums are added in
 * order. Double precision uses the tensor cores.
 *
 * Shared memory keeps the layout of X in memory: column-major for lower X, row-major for upper X,
 * the transpose.
 *
 * Cost of a tile: 32 x 32 x k multiply-adds on one multiprocessor, each with half a word from
 * shared memory (a tenth in double precision), which dominates in single precision; two tiles of
 * operands through L2, C read and written once.
 *
 * docs/experiments/rank-update.md has measurements and rejected variants. */
#include "block_kernels.h"
#include "block_tile.cuh"
#include "lib/device/early_launch.cuh"
#include "factor/kernels/gemm/gemm_mma.cuh"
#include "lib/device/launch_bounds.cuh"

namespace
{

const int THREADS = 32 * TILE_WARPS;
const int GROUPS = TILE_WARPS / 2; /* of warps; a warp has 16 of the tile's columns */
const int PARTS = 4;               /* of the data held */

template <typename T, bool upper> struct rank_update {
	triangle<const T, upper> x;
	triangle<T, upper> c;
	int rows, columns, k;
	bool wide; /* X or C may be read 16 bytes at a time */
	T alpha, beta;
	const int *info;
};

/* A tile's operands, DEPTH long with zeros past k, and sums in shared memory. Pitches are between
 * rows of upper X and C, between columns of lower ones. */
template <typename T, bool upper, int DEPTH> struct layout {
	static const int HELD = DEPTH < BLOCK_RANK_HELD ? DEPTH : BLOCK_RANK_HELD;
	static const int PARTS = upper && DEPTH == HELD ? 1 : ::PARTS;
	static const int DEEP = HELD / PARTS,
	                 STEPS = DEPTH / DEEP; /* length of a part, number of parts */
	static const int PAD = upper || sizeof(T) == 8 ? 4 : 0;
	static const int PITCH = (upper ? HELD : TILE) + PAD;
	static const int SIZE = PITCH * (upper ? TILE : HELD);
	static const int SUM_PITCH = tile_pitch<T>(TILE), SUM_SIZE = TILE * SUM_PITCH;
	static const int SUMS = GROUPS * SUM_SIZE;
	static const int BYTES = (2 * SIZE > SUMS ? 2 * SIZE : SUMS) * (int)sizeof(T);
};

/* Starts the copies, of N elements each, of that part of TILE rows of X from row i0 on. Without
 * branches, because a copy after a branch waits until this copy's address has been read. Missing
 * elements use the address of existing ones. */
template <int N, class L, typename T, bool upper>
DEVICE void fetch(const rank_update<T, upper> &u, int i0, T *to, int part)
{
	const int k0 = part * L::DEEP, held = part % L::PARTS * L::DEEP;
	const int lines = upper ? TILE : L::DEEP, side = (upper ? L::DEEP : TILE) / N;
	const int along = threadIdx.x % side * N, first = threadIdx.x / side;
	const int last = ((upper ? u.k : u.rows) - 1) / N * N;
#pragma unroll
	for (int pass = 0; pass < (lines * side + THREADS - 1) / THREADS; pass++) {
		const int line = first + pass * (THREADS / side), deep = upper ? along : line;
		const int i = i0 + (upper ? line : along), k = k0 + deep;
		const int there = upper ? (i < u.rows ? u.k - k : 0) : (k < u.k ? u.rows - i : 0);
		const T *from =
		        u.x.at(min(i, upper ? u.rows - 1 : last), min(k, upper ? last : u.k - 1));
		if (lines * side % THREADS == 0 || line < lines)
			copy_start<N *(int)sizeof(T)>(
			        to + (upper ? (i - i0) * L::PITCH + held + deep
			                    : (held + deep) * L::PITCH + i - i0),
			        from, min(max(there, 0), N) * (int)sizeof(T));
	}
}

/* Parts of both operands of a tile, one group of copies each. */
template <int N, class L, typename T, bool upper>
DEVICE void fetch_parts(
        const rank_update<T, upper> &u, int i0, int j0, T *x, T *y, int first, int count)
{
#pragma unroll
	for (int part = first; part < first + count; part++) {
		fetch<N, L>(u, i0, x, part);
		fetch<N, L>(u, j0, y, part);
		copy_commit();
	}
}

template <class L, typename T, bool upper>
DEVICE void fetch_any(
        const rank_update<T, upper> &u, int i0, int j0, T *x, T *y, int first, int count)
{
	if (u.wide)
		fetch_parts<16 / (int)sizeof(T), L>(u, i0, j0, x, y, first, count);
	else
		fetch_parts<1, L>(u, i0, j0, x, y, first, count);
}

/* A thread's elements of a tile's product. Single precision: four rows by four columns, contiguous
 * where C is lower, eight and four apart where it is upper. Double precision, as the tensor cores
 * have it: four pairs of rows eight apart by adjacent columns. */
template <typename T, bool upper> struct sixteen {
	int lane, column; /* its warp's first column */
	T sum[4][4];

	DEVICE int row_of(int r, int c) const
	{
		if (sizeof(T) == 8)
			return 16 * (r / 2) + lane / 4 + 8 * (c / 2);
		return upper ? lane / 4 + 8 * r : lane / 4 * 4 + r;
	}

	DEVICE int column_of(int r, int c) const
	{
		if (sizeof(T) == 8)
			return column + 8 * (r % 2) + 2 * (lane % 4) + c % 2;
		return column + (upper ? lane % 4 + 4 * c : lane % 4 * 4 + c);
	}

	/* Adds `each` of the inner dimension from k0 on. */
	template <int each, int pitch> DEVICE void multiply(const float *x, const float *y, int k0)
	{
		if constexpr (upper) {
			tile_product(x + lane / 4 * pitch + k0, pitch,
			        y + (column + lane % 4) * pitch + k0, pitch, each, sum);
		} else {
#pragma unroll
			for (int k = k0; k < k0 + each; k++) {
				const auto a = load_quad(x + k * pitch + lane / 4 * 4);
				const auto b = load_quad(y + k * pitch + column + lane % 4 * 4);
#pragma unroll
				for (int c = 0; c < 4; c++)
#pragma unroll
					for (int r = 0; r < 4; r++)
						sum[r][c] += a.x[r] * b.x[c];
			}
		}
	}

	template <int each, int pitch>
	DEVICE void multiply(const double *x, const double *y, int k0)
	{
		const int rows = upper ? pitch : 1, deep = upper ? 1 : pitch;
#pragma unroll
		for (int k = k0; k < k0 + each; k += 4) {
			const int at = lane / 4 * rows + (k + lane % 4) * deep;
			double a[2][2], b[2][1];
#pragma unroll
			for (int r = 0; r < 4; r++)
				a[r / 2][r % 2] = x[at + 8 * r * rows];
#pragma unroll
			for (int c = 0; c < 2; c++)
				b[c][0] = y[at + (column + 8 * c) * rows];
#pragma unroll
			for (int r = 0; r < 4; r++)
				mma_double(sum[r], a[r / 2], b[r % 2]);
		}
	}

	template <class L> DEVICE void keep(T *sums) const
	{
#pragma unroll
		for (int c = 0; c < 4; c++)
#pragma unroll
			for (int r = 0; r < 4; r++) {
				const int i = row_of(r, c), j = column_of(r, c);
				sums[upper ? i * L::SUM_PITCH + j : j * L::SUM_PITCH + i] =
				        sum[r][c];
			}
	}
};

/* Four contiguous elements of C of a thread: `along` and the next three in a line, a row of upper C
 * or a column of lower C. */
template <typename T, bool upper> struct quad_of_c {
	int along, line, i, j; /* place of the first one in C */
	bool whole; /* the whole tile is in C, and alignment permits 16 bytes at a time */
	T value[4];

	DEVICE quad_of_c(const rank_update<T, upper> &u, int i0, int j0)
	    : along(threadIdx.x % 8 * 4), line(threadIdx.x / 8), i(i0 + (upper ? line : along)),
	      j(j0 + (upper ? along : line)),
	      whole(u.wide && i0 + TILE <= u.rows && j0 + TILE <= min(i0 + 1, u.columns))
	{
	}

	DEVICE bool inside(const rank_update<T, upper> &u, int e) const
	{
		const int row = i + (upper ? 0 : e), col = j + (upper ? e : 0);
		return row < u.rows && col < u.columns && col <= row;
	}

	DEVICE void read(const rank_update<T, upper> &u)
	{
		const T *c = u.c.at(i, j);
		if (whole) {
			const auto quad = load_quad(c);
#pragma unroll
			for (int e = 0; e < 4; e++)
				value[e] = quad.x[e];
			return;
		}
#pragma unroll
		for (int e = 0; e < 4; e++)
			value[e] = inside(u, e) ? c[e] : T(0);
	}

	DEVICE void write(const rank_update<T, upper> &u) const
	{
		T *c = u.c.at(i, j);
		if (whole) {
			store_quad(c, value);
			return;
		}
#pragma unroll
		for (int e = 0; e < 4; e++)
			if (inside(u, e))
				c[e] = value[e];
	}
};

/* Multiplies all parts, as many in flight as fit. A part's memory is filled again after all threads
 * are done with it. */
template <class L, typename T, bool upper>
DEVICE void multiply_all(
        const rank_update<T, upper> &u, int i0, int j0, sixteen<T, upper> &mine, T *x, T *y)
{
	const int each = L::DEEP / GROUPS, group = threadIdx.x / 32 / 2;
#pragma unroll
	for (int part = 0; part < L::STEPS; part++) {
		const int behind = L::PARTS - 1 + part;
		if (part == 0)
			copy_wait<L::PARTS - 1>();
		else
			copy_wait<L::PARTS - (L::PARTS > 1 ? 2 : 1)>();
		__syncthreads();
		if (part > 0 && behind < L::STEPS)
			fetch_any<L>(u, i0, j0, x, y, behind, 1);
		else
			copy_commit();
		mine.template multiply<each, L::PITCH>(
		        x, y, part % L::PARTS * L::DEEP + group * each);
	}
}

template <typename T, bool upper, int DEPTH>
__global__ void __launch_bounds__(
        THREADS, sm_blocks(THREADS, sizeof(T) == 8 ? BLOCK_RANK_RESIDENT : 1))
        rank_kernel(const rank_update<T, upper> u)
{
	typedef layout<T, upper, DEPTH> L;
	extern __shared__ __align__(16) unsigned char memory[];
	const int warp = threadIdx.x / 32;
	const struct tile_at tile = trapezoid_tile((int)blockIdx.x, tiles_of(u.columns));
	const int i0 = tile.i * TILE, j0 = tile.j * TILE;
	T *x = (T *)memory, *y = x + L::SIZE, *sums = (T *)memory;
	quad_of_c<T, upper> c(u, i0, j0);
	early_begin();
	if (u.info && *u.info != 0)
		return;
	fetch_any<L>(u, i0, j0, x, y, 0, L::PARTS);
	if (u.beta != T(0))
		c.read(u);
	sixteen<T, upper> mine = {(int)threadIdx.x % 32, warp % 2 * (TILE / 2), {}};
	multiply_all<L>(u, i0, j0, mine, x, y);
	__syncthreads();
	mine.template keep<L>(sums + warp / 2 * L::SUM_SIZE);
	__syncthreads();
	T total[4] = {};
#pragma unroll
	for (int g = 0; g < GROUPS; g++) {
		const auto part =
		        load_quad(sums + g * L::SUM_SIZE + c.line * L::SUM_PITCH + c.along);
#pragma unroll
		for (int e = 0; e < 4; e++)
			total[e] += part.x[e];
	}
#pragma unroll
	for (int e = 0; e < 4; e++)
		c.value[e] = u.beta != T(0) ? u.beta * c.value[e] + u.alpha * total[e]
		                            : u.alpha * total[e];
	c.write(u);
}

template <typename T, bool upper, int DEPTH>
int launch_deep(const rank_update<T, upper> &u, void *stream)
{
	return (int)early_launch(rank_kernel<T, upper, DEPTH>, block_rank_tiles(u.rows, u.columns),
	        THREADS, layout<T, upper, DEPTH>::BYTES, u, stream);
}

template <typename T, bool upper>
int launch(
        double alpha, struct matrix x, double beta, struct matrix c, const int *info, void *stream)
{
	const int64_t rows = upper ? c.n : c.m, columns = upper ? c.m : c.n;
	const int k = (int)(upper ? x.m : x.n);
	const rank_update<T, upper> u = {{(const T *)matrix_address(x), x.ld},
	        {(T *)matrix_address(c), c.ld}, (int)rows, (int)columns, k,
	        matrix_is_aligned(x) && matrix_is_aligned(c), (T)alpha, (T)beta, info};
	if (rows == 0 || columns == 0)
		return (int)cudaSuccess;
	return k <= BLOCK_RANK_HELD / 2 ? launch_deep<T, upper, BLOCK_RANK_HELD / 2>(u, stream)
	       : k <= BLOCK_RANK_HELD   ? launch_deep<T, upper, BLOCK_RANK_HELD>(u, stream)
	                                : launch_deep<T, upper, BLOCK_RANK_MAX>(u, stream);
}

} // namespace

extern "C" int64_t block_rank_bytes(enum precision precision)
{
	return precision == SINGLE ? layout<float, true, BLOCK_RANK_MAX>::BYTES
	                           : layout<double, true, BLOCK_RANK_MAX>::BYTES;
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
