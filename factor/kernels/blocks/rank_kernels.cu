/* SPDX-License-Identifier: MIT */
/* Symmetric updates of small rank, C = alpha X X^T + beta C, of a triangle and what is below it,
 * where a whole product takes less time than a large tile does. A block of threads has one tile of
 * 32 x 32, several of which a multiprocessor has at a time. 128 of the inner dimension of the
 * tile's operands are on their way at once, of lower X and where that is not all in parts, each
 * multiplied while the next ones come and then room for one further on. Four pairs of warps share a
 * part out, and their sums are added in their order. Double precision goes by the tensor cores.
 *
 * In shared memory X lies as it does in memory: lower X column after column, upper X, the
 * transpose, row after row.
 *
 * Cost of a tile: 32 x 32 x k multiply-adds on one multiprocessor, each with half a word from
 * shared memory to registers (a tenth in double precision), which takes twice as long in single
 * precision; two of its operands' tiles through L2, C read and written once.
 *
 * Log (H100, us, 128 columns by 128 on end, rows 1024, 2048, 3968). Copies of 4 bytes, with a
 * choice of address before each: 6.7, 8.0, 10.9, in fp64 7.6, 8.3, 14.8. Of 16 bytes, predicted 1.2
 * for each further tile of a multiprocessor instead of 2.2: 5.2 for 128 rows instead of 3.8, as a
 * branch came before each copy; without one 3.6, 5.5, 6.4. Tiles of 32 x 64 and 32 x 128: 3968 rows
 * 8.2 and 10.4, 8064 10.6 and 10.6 instead of 11.0. Fp64 by multiply-adds 5.4, 8.8, 12.0, predicted
 * by tensor cores half of what further tiles take: 4.5, 5.1, 8.2. Cholesky of 1024, 2048, 4096 4 to
 * 7 % less, of 4096 by 3xFP16 and in fp64 8 and 6. With an inner dimension of up to 256 in place of
 * 128, predicted 5.5 to 6.5 for 256 columns of 256 rows by 256, where kernels for large matrices
 * take 13.3, fp64 11.8: 4.3 and 4.7, of 1024 and 2048 rows 8.9 and 11.3 instead of 13.4 and 13.9,
 * fp64 11.0 and 16.0 instead of 11.9 and 13.8. Cholesky by blocks of 256, 1024, 2048, 3000, 4096:
 * 204 178, 435 400, 815 703, 1245 1203 (3000 by blocks of 128 754); fp64, predicted 90 less for
 * 4096: 242 224, 512 505, 872 854, 1440 1428. */
#include "block_kernels.h"
#include "block_tile.cuh"
#include "lib/device/early_launch.cuh"
#include "factor/kernels/gemm/gemm_mma.cuh"
#include "lib/device/launch_bounds.cuh"

namespace
{

const int THREADS = 32 * TILE_WARPS;
const int GROUPS = TILE_WARPS / 2; /* of warps; a warp has 16 of the tile's columns */
const int PARTS = 4;               /* of what is held */

template <typename T, bool upper> struct rank_update {
	struct triangle<const T, upper> x;
	struct triangle<T, upper> c;
	int rows, columns, k;
	bool wide; /* 16 bytes of X or C may be read at a time */
	T alpha, beta;
	const int *info;
};

/* A tile's operands, DEPTH long with zeros behind k, and sums in shared memory. Pitches are between
 * rows of upper X and C, between columns of lower ones. */
template <typename T, bool upper, int DEPTH> struct layout {
	static const int HELD = DEPTH < BLOCK_RANK_HELD ? DEPTH : BLOCK_RANK_HELD;
	static const int PARTS = upper && DEPTH == HELD ? 1 : ::PARTS;
	static const int DEEP = HELD / PARTS, STEPS = DEPTH / DEEP; /* a part's length, and parts */
	static const int PAD = upper || sizeof(T) == 8 ? 4 : 0;
	static const int PITCH = (upper ? HELD : TILE) + PAD;
	static const int SIZE = PITCH * (upper ? TILE : HELD);
	static const int SUM_PITCH = tile_pitch<T>(TILE), SUM_SIZE = TILE * SUM_PITCH;
	static const int SUMS = GROUPS * SUM_SIZE;
	static const int BYTES = (2 * SIZE > SUMS ? 2 * SIZE : SUMS) * (int)sizeof(T);
};

/* Starts the copies, of N elements each, of TILE rows of X from row i0 on: that part of the inner
 * dimension. There is no branch, after which the next copy would wait until this one's
 * address is read: what is not there has the address of what is. */
template <int N, class L, typename T, bool upper>
__device__ __forceinline__ void fetch(
        const struct rank_update<T, upper> &u, int i0, T *to, int part)
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

/* Parts of both of a tile's operands, a group of copies each. */
template <int N, class L, typename T, bool upper>
__device__ __forceinline__ void fetch_parts(
        const struct rank_update<T, upper> &u, int i0, int j0, T *x, T *y, int first, int count)
{
#pragma unroll
	for (int part = first; part < first + count; part++) {
		fetch<N, L>(u, i0, x, part);
		fetch<N, L>(u, j0, y, part);
		copy_commit();
	}
}

template <class L, typename T, bool upper>
__device__ __forceinline__ void fetch_any(
        const struct rank_update<T, upper> &u, int i0, int j0, T *x, T *y, int first, int count)
{
	if (u.wide)
		fetch_parts<16 / (int)sizeof(T), L>(u, i0, j0, x, y, first, count);
	else
		fetch_parts<1, L>(u, i0, j0, x, y, first, count);
}

/* What of a tile's product a thread makes: of single precision four rows by four columns, side by
 * side where C is lower, eight and four apart where it is upper; of double precision, as the tensor
 * cores have it, four pairs of rows eight apart by columns side by side. */
template <typename T, bool upper> struct sixteen {
	int lane, column; /* its warp's first one */
	T sum[4][4];

	__device__ __forceinline__ int row_of(int r, int c) const
	{
		if (sizeof(T) == 8)
			return 16 * (r / 2) + lane / 4 + 8 * (c / 2);
		return upper ? lane / 4 + 8 * r : lane / 4 * 4 + r;
	}

	__device__ __forceinline__ int column_of(int r, int c) const
	{
		if (sizeof(T) == 8)
			return column + 8 * (r % 2) + 2 * (lane % 4) + c % 2;
		return column + (upper ? lane % 4 + 4 * c : lane % 4 * 4 + c);
	}

	/* `each` of the inner dimension from k0 on. */
	template <int each, int pitch>
	__device__ __forceinline__ void multiply(const float *x, const float *y, int k0)
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
	__device__ __forceinline__ void multiply(const double *x, const double *y, int k0)
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

	template <class L> __device__ __forceinline__ void keep(T *sums) const
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

/* A thread's elements of C, four side by side: `along` and the three behind it of a line, a row of
 * upper C or a column of lower. */
template <typename T, bool upper> struct quad_of_c {
	int along, line, i, j; /* the first one's place in C */
	bool whole;            /* all of the tile is C's, and lies so that 16 bytes go at a time */
	T value[4];

	__device__ __forceinline__ quad_of_c(const struct rank_update<T, upper> &u, int i0, int j0)
	    : along(threadIdx.x % 8 * 4), line(threadIdx.x / 8), i(i0 + (upper ? line : along)),
	      j(j0 + (upper ? along : line)),
	      whole(u.wide && i0 + TILE <= u.rows && j0 + TILE <= min(i0 + 1, u.columns))
	{
	}

	__device__ __forceinline__ bool inside(const struct rank_update<T, upper> &u, int e) const
	{
		const int row = i + (upper ? 0 : e), col = j + (upper ? e : 0);
		return row < u.rows && col < u.columns && col <= row;
	}

	__device__ __forceinline__ void read(const struct rank_update<T, upper> &u)
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

	__device__ __forceinline__ void write(const struct rank_update<T, upper> &u) const
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

/* All parts, of which as many as there is room for are on their way. The one that comes where one
 * was is asked for when all are done with that. */
template <class L, typename T, bool upper>
__device__ __forceinline__ void multiply_all(const struct rank_update<T, upper> &u, int i0, int j0,
        struct sixteen<T, upper> &mine, T *x, T *y)
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
        rank_kernel(const struct rank_update<T, upper> u)
{
	typedef layout<T, upper, DEPTH> L;
	extern __shared__ __align__(16) unsigned char memory[];
	const int warp = threadIdx.x / 32;
	const struct tile_at tile = trapezoid_tile((int)blockIdx.x, tiles_of(u.columns));
	const int i0 = tile.i * TILE, j0 = tile.j * TILE;
	T *x = (T *)memory, *y = x + L::SIZE, *sums = (T *)memory;
	struct quad_of_c<T, upper> c(u, i0, j0);
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

template <typename T> bool is_wide(struct matrix a)
{
	return (uintptr_t)matrix_address(a) % 16 == 0 && a.ld * (int64_t)sizeof(T) % 16 == 0;
}

template <typename T, bool upper, int DEPTH>
int launch_deep(const struct rank_update<T, upper> &u, void *stream)
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
	const struct rank_update<T, upper> u = {
		{(const T *)matrix_address(x), x.ld}, {(T *)matrix_address(c), c.ld}, (int)rows,
		        (int)columns, k, is_wide<T>(x) && is_wide<T>(c), (T)alpha, (T)beta, info
	};
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
