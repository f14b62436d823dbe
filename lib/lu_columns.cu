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
#include "lu_rows.cuh"
#include "resident.h"

namespace
{

const int FEW = 8; /* blocks of a cluster, as long as these have all rows in registers */
const int MOVED_BYTES = 32 << 10; /* shared memory for what moved_of says */

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
