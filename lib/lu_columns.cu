/* SPDX-License-Identifier: MIT */
/* Columns right of an LU panel in one kernel: their rows exchanged, the top solved, the rest
 * updated. It stands between a panel and the next one, where launches and dependent accesses are
 * all the cost: separate kernels for the three steps took about 21 us (H200, fp32, 1024 rows of 64
 * columns), of which their operations are less than one.
 *
 * A cluster of blocks has COLUMNS columns, each of its blocks the top and a part of the rows below.
 * Every block solves for the top itself, so that nothing travels between them; one barrier of the
 * cluster, hidden behind the products, stands between the last read of a row and the first write.
 * A warp solves for one column, two rows of the triangle at a step. Rows below are multiplied in
 * single precision two rows a lane, all of the panel's elements already on their way while the top
 * is solved; in double precision 8 x 8 tiles by the tensor cores, which round as FMA does.
 *
 * Cost: pivots, rows that they name: two dependent accesses; n/2 steps of two shuffles and three
 * FMAs; 2(m-n) COLUMNS n operations on a block's share of rows; one write. */
#include "base.h"
#include "block_kernels.h"
#include "cluster.cuh"
#include "early_launch.cuh"
#include "resident.h"
#include "shared_update.cuh"

#include <cuda_pipeline_primitives.h>

namespace
{

const int COLUMNS = 8, WARPS = 8, THREADS = 32 * WARPS;

/* Rows below that a block has in registers at once, and blocks of a cluster as long as these take
 * all of them. */
const int SINGLE_AT_ONCE = 2 * THREADS, DOUBLE_AT_ONCE = 32 * WARPS, FEW = 8;
const int MOVED_BYTES = 32 << 10; /* shared memory for what moved_of says */

template <typename T> struct columns {
	const T *a;
	int64_t lda;
	T *c;
	int64_t ldc;
	int m, k, n, share; /* rows, columns of the panel, columns; rows below of a block */
	const int *pivots;
};

template <typename T, int WIDTH> struct memory {
	T triangle[WIDTH][WIDTH]; /* by columns */
	T old[COLUMNS][WIDTH];    /* the top as it was */
	T top[WIDTH][COLUMNS];    /* as it becomes */
	int pivot[WIDTH], source[WIDTH];
};

/* Behind it: of each row below, the row of the top that comes there, or -1. */
template <typename T, int WIDTH>
__device__ __forceinline__ int *moved_of(struct memory<T, WIDTH> &s)
{
	return (int *)(&s + 1);
}

/* The last of the first `bound` exchanges that is with `row`, or -1. */
template <int WIDTH> __device__ __forceinline__ int latest(const int *pivot, int bound, int row)
{
	int found[4] = {-1, -1, -1, -1};
#pragma unroll
	for (int i = 0; i < WIDTH; i += 4) {
		const int4 p = *(const int4 *)(pivot + i);
		found[0] = p.x == row && i < bound ? i : found[0];
		found[1] = p.y == row && i + 1 < bound ? i + 1 : found[1];
		found[2] = p.z == row && i + 2 < bound ? i + 2 : found[2];
		found[3] = p.w == row && i + 3 < bound ? i + 3 : found[3];
	}
	return max(max(found[0], found[1]), max(found[2], found[3]));
}

/* Where the row comes from that the first `bound` exchanges bring to `row`, which none of them
 * exchanges as its own: exchange i is of row i with one at or below it. */
template <int WIDTH> __device__ __forceinline__ int origin(const int *pivot, int bound, int row)
{
	for (int i = latest<WIDTH>(pivot, bound, row); i >= 0; i = latest<WIDTH>(pivot, i, row))
		row = i;
	return row;
}

template <typename T, int WIDTH>
__device__ __forceinline__ void find_origins(
        const struct columns<T> &g, struct memory<T, WIDTH> &s, int first, int rows)
{
	const int i = (int)threadIdx.x % WIDTH, pivot = s.pivot[i];
	if (i >= g.k)
		return;
	if ((int)threadIdx.x < WIDTH)
		s.source[i] = origin<WIDTH>(s.pivot, i, pivot);
	else if ((int)threadIdx.x < 2 * WIDTH && pivot >= first && pivot < first + rows &&
	         latest<WIDTH>(s.pivot, g.k, pivot) == i)
		moved_of(s)[pivot - first] = origin<WIDTH>(s.pivot, i, i);
}

/* Starts what does not depend on pivots: triangle, top. */
template <typename T, int WIDTH>
__device__ __forceinline__ void fetch(
        const struct columns<T> &g, struct memory<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll 8
	for (int j = (int)threadIdx.x / WIDTH; j < WIDTH; j += THREADS / WIDTH)
		__pipeline_memcpy_async(&s.triangle[j][i], g.a + i + j * g.lda, sizeof(T),
		        i < g.k && j < g.k ? 0 : sizeof(T));
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		__pipeline_memcpy_async(&s.old[j][i], g.c + i + (column + j) * g.ldc, sizeof(T),
		        i < g.k && column + j < g.n ? 0 : sizeof(T));
	__pipeline_commit();
}

/* A warp solves for its column of the top. */
template <typename T, int WIDTH>
__device__ __forceinline__ void solve(
        const struct columns<T> &g, struct memory<T, WIDTH> &s, int column)
{
	const int PARTS = WIDTH / 32, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	T x[PARTS];
#pragma unroll
	for (int p = 0; p < PARTS; p++) {
		const int i = 32 * p + lane, from = i < g.k ? s.source[i] : 0;
		x[p] = s.old[warp][from < g.k ? from : 0];
		if (from >= g.k && column + warp < g.n)
			x[p] = g.c[from + (column + warp) * g.ldc];
	}
#pragma unroll
	for (int part = 0; part < PARTS; part++)
#pragma unroll(WIDTH == 64 ? 8 : 4)
		for (int row = 0; row < 32; row += 2) {
			const int j = 32 * part + row;
			const T *left = s.triangle[j], *right = s.triangle[j + 1];
			if (j >= g.k)
				break;
			const T first = __shfl_sync(0xffffffffu, x[part], row);
			const T next = __shfl_sync(0xffffffffu, x[part], row + 1);
			const T second = minus_product(next, left[j + 1], first);
#pragma unroll
			for (int p = part; p < PARTS; p++) {
				const int i = 32 * p + lane;
				if (p > part || lane > row)
					x[p] = minus_product(x[p], left[i], first);
				if (p > part || lane > row + 1)
					x[p] = minus_product(x[p], right[i], second);
			}
		}
#pragma unroll
	for (int p = 0; p < PARTS; p++)
		s.top[32 * p + lane][warp] = 32 * p + lane < g.k ? x[p] : T(0);
}

template <typename T, int WIDTH>
__device__ __forceinline__ void store_top(
        const struct columns<T> &g, const struct memory<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		if (i < g.k && column + j < g.n)
			g.c[i + (column + j) * g.ldc] = s.top[i][j];
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

const int DEPTH = 64; /* columns of the panel that are multiplied with at once */

__device__ __forceinline__ void tile_multiply(double a, double b, double (&c)[2])
{
	asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
	        : "+d"(c[0]), "+d"(c[1])
	        : "d"(a), "d"(b));
}

/* What a thread has of the rows below, `AT_ONCE` rows of a block at a time: their elements of C and
 * DEPTH of the panel. Row numbers are from the block's first row. */
template <typename T> struct rows;

/* Lanes have two rows each and all columns. */
template <> struct rows<float> {
	static const int EACH = SINGLE_AT_ONCE / THREADS, AT_ONCE = SINGLE_AT_ONCE;
	float l[EACH][DEPTH], c[EACH][COLUMNS];

	static __device__ __forceinline__ int row_of(int base, int r)
	{
		const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
		return base + (EACH * warp + r) * 32 + lane;
	}

	__device__ __forceinline__ void load_panel(
	        const float *a, int64_t lda, int depth, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int k = 0; k < DEPTH; k++)
				l[r][k] = row < count && k < depth ? a[row + k * lda] : 0.0f;
		}
	}

	__device__ __forceinline__ void load(
	        const float *from, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				c[r][j] = row < count && j < n ? from[row + j * ld] : 0.0f;
		}
	}

	template <int WIDTH>
	__device__ __forceinline__ void move(
	        const float (&old)[COLUMNS][WIDTH], const int *moved, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r), from = row < count ? moved[row] : -1;
			if (from >= 0)
#pragma unroll
				for (int j = 0; j < COLUMNS; j++)
					c[r][j] = old[j][from];
		}
	}

	__device__ __forceinline__ void multiply(const float (*top)[COLUMNS], int base, int count)
	{
		if (row_of(base, 0) - (int)threadIdx.x % 32 >= count)
			return;
#pragma unroll
		for (int k = 0; k < DEPTH; k++)
#pragma unroll
			for (int q = 0; q < COLUMNS; q += 4) {
				const struct quad_float u = load_quad(&top[k][q]);
#pragma unroll
				for (int j = 0; j < 4; j++)
#pragma unroll
					for (int r = 0; r < EACH; r++)
						c[r][q + j] =
						        minus_product(c[r][q + j], l[r][k], u.x[j]);
			}
	}

	__device__ __forceinline__ void store(float *to, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				if (row < count && j < n)
					to[row + j * ld] = c[r][j];
		}
	}
};

/* Warps have tiles of 8 rows and all columns. */
template <> struct rows<double> {
	static const int EACH = DOUBLE_AT_ONCE / 8 / WARPS, AT_ONCE = DOUBLE_AT_ONCE,
	                 STEPS = DEPTH / 4;
	double l[EACH][STEPS], c[EACH][2];

	static __device__ __forceinline__ int tile_of(int base, int r)
	{
		return base + (EACH * ((int)threadIdx.x / 32) + r) * 8;
	}

	static __device__ __forceinline__ int row_of(int base, int r)
	{
		return tile_of(base, r) + (int)threadIdx.x % 32 / 4;
	}

	__device__ __forceinline__ void load_panel(
	        const double *a, int64_t lda, int depth, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r);
#pragma unroll
			for (int step = 0; step < STEPS; step++) {
				const int k = 4 * step + (int)threadIdx.x % 4;
				l[r][step] = row < count && k < depth ? a[row + k * lda] : 0.0;
			}
		}
	}

	__device__ __forceinline__ void load(
	        const double *from, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				const int row = row_of(base, r), j = (int)threadIdx.x % 4 * 2 + e;
				c[r][e] = row < count && j < n ? from[row + j * ld] : 0.0;
			}
	}

	template <int WIDTH>
	__device__ __forceinline__ void move(
	        const double (&old)[COLUMNS][WIDTH], const int *moved, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++) {
			const int row = row_of(base, r), from = row < count ? moved[row] : -1;
			if (from >= 0)
#pragma unroll
				for (int e = 0; e < 2; e++)
					c[r][e] = old[(int)threadIdx.x % 4 * 2 + e][from];
		}
	}

	__device__ __forceinline__ void multiply(const double (*top)[COLUMNS], int base, int count)
	{
		const int k = (int)threadIdx.x % 4, j = (int)threadIdx.x % 32 / 4;
#pragma unroll
		for (int step = 0; step < STEPS; step++) {
			const double u = -top[4 * step + k][j];
#pragma unroll
			for (int r = 0; r < EACH; r++)
				if (tile_of(base, r) < count)
					tile_multiply(l[r][step], u, c[r]);
		}
	}

	__device__ __forceinline__ void store(double *to, int64_t ld, int n, int base, int count)
	{
#pragma unroll
		for (int r = 0; r < EACH; r++)
#pragma unroll
			for (int e = 0; e < 2; e++) {
				const int row = row_of(base, r), j = (int)threadIdx.x % 4 * 2 + e;
				if (row < count && j < n)
					to[row + j * ld] = c[r][e];
			}
	}
};

#endif

template <typename T, int WIDTH>
__global__ void __launch_bounds__(THREADS) columns_kernel(const struct columns<T> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(16) unsigned char bytes[];
	struct memory<T, WIDTH> &s = *(struct memory<T, WIDTH> *)bytes;
	int *moved = moved_of(s);
	const int rank = (int)cluster_rank();
	const int column = (int)(blockIdx.x / cluster_blocks()) * COLUMNS;
	const int first = g.k + rank * g.share, count = max(0, min(g.share, g.m - first));
	const T *a = g.a + first;
	T *c = g.c + first + column * g.ldc;
	struct rows<T> mine;

	early_begin();
	if ((int)threadIdx.x < WIDTH) {
		const int i = (int)threadIdx.x, p = i < g.k ? g.pivots[i] - 1 : -1;
		s.pivot[i] = i >= g.k ? -1 : p >= i && p < g.m ? p : i;
	}
	fetch(g, s, column);
	mine.load(c, g.ldc, g.n - column, 0, count);
	mine.load_panel(a, g.lda, g.k, 0, count);
	for (int i = (int)threadIdx.x; i < count; i += THREADS)
		moved[i] = -1;
	__pipeline_wait_prior(0);
	__syncthreads();
	find_origins(g, s, first, count);
	__syncthreads();
	solve(g, s, column);
	/* all that others may overwrite has been read */
	asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
	__syncthreads();
	for (int base = 0; base < count; base += rows<T>::AT_ONCE) {
		if (base > 0) {
			mine.load(c, g.ldc, g.n - column, base, count);
			mine.load_panel(a, g.lda, g.k, base, count);
		}
		mine.move(s.old, moved, base, count);
		mine.multiply(s.top, base, count);
#pragma unroll 1
		for (int k = DEPTH; k < WIDTH; k += DEPTH) {
			mine.load_panel(a + k * g.lda, g.lda, g.k - k, base, count);
			mine.multiply(s.top + k, base, count);
		}
		if (base == 0)
			asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
		mine.store(c, g.ldc, g.n - column, base, count);
	}
	if (count == 0)
		asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
	if (rank == 0)
		store_top(g, s, column);
#endif
}

/* ---- launch ---- */

const void *kernel_of(enum precision precision, int64_t k)
{
	if (precision == SINGLE)
		return k <= 64 ? (const void *)columns_kernel<float, 64>
		               : (const void *)columns_kernel<float, 128>;
	return k <= 64 ? (const void *)columns_kernel<double, 64>
	               : (const void *)columns_kernel<double, 128>;
}

int64_t fixed_bytes(enum precision precision, int64_t k)
{
	if (precision == SINGLE)
		return k <= 64 ? sizeof(struct memory<float, 64>)
		               : sizeof(struct memory<float, 128>);
	return k <= 64 ? sizeof(struct memory<double, 64>) : sizeof(struct memory<double, 128>);
}

/* How a panel of m rows is shared out to the blocks of a cluster. */
struct sharing {
	int blocks;
	int64_t share, bytes; /* rows below, and shared memory, of a block */
};

struct sharing share_out(enum precision precision, int64_t m, int64_t k)
{
	const int64_t at_once = precision == SINGLE ? SINGLE_AT_ONCE : DOUBLE_AT_ONCE;
	const int blocks = m - k <= FEW * at_once ? FEW : CLUSTER_MAX;
	const int64_t share = ((m - k + blocks - 1) / blocks + 31) / 32 * 32;
	return {blocks, share, fixed_bytes(precision, k) + share * (int64_t)sizeof(int)};
}

/* Whether the current device takes the kernels in the largest clusters. */
bool launchable(enum precision precision, int64_t k)
{
	static thread_local int known_device = -1;
	static thread_local bool known[4];
	const int index = 2 * (precision == DOUBLE) + (k > 64);
	int device = 0;
	if (cudaGetDevice(&device) != cudaSuccess)
		return false;
	for (int i = 0; i < 4 && device != known_device; i++) {
		const enum precision p = i < 2 ? SINGLE : DOUBLE;
		const int64_t width = i % 2 ? 128 : 64, bytes = fixed_bytes(p, width) + MOVED_BYTES;
		const void *kernel = kernel_of(p, width);
		known[i] = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
		                   (int)bytes) == cudaSuccess &&
		           cluster_resident(kernel, CLUSTER_MAX, THREADS, (size_t)bytes) > 0;
	}
	cudaGetLastError(); /* a size that the device refuses is an answer here */
	known_device = device;
	return known[index];
}

template <typename T> int launch(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	const struct sharing sharing = share_out(c.precision, c.m, p.n);
	struct columns<T> g = {
		(const T *)matrix_address(a), a.ld, (T *)matrix_address(c), c.ld, (int)c.m,
		        (int)p.n, (int)c.n, (int)sharing.share, p.data
	};
	const int64_t clusters = (c.n + COLUMNS - 1) / COLUMNS;
	return early_cluster_launch(kernel_of(c.precision, p.n), (int)clusters * sharing.blocks,
	        sharing.blocks, THREADS, (size_t)sharing.bytes, &g, stream);
}

} // namespace

extern "C" bool block_lu_columns_fits(enum precision precision, int64_t m, int64_t k)
{
	return k > 0 && k <= BLOCK_LU_COLUMNS_MAX && m <= INT32_MAX && launchable(precision, k) &&
	       share_out(precision, m, k).bytes <= fixed_bytes(precision, k) + MOVED_BYTES;
}

extern "C" int block_lu_columns(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	if (c.n == 0)
		return (int)cudaSuccess;
	return c.precision == SINGLE ? launch<float>(a, p, c, stream)
	                             : launch<double>(a, p, c, stream);
}
