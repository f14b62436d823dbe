/* SPDX-License-Identifier: MIT */
/* Updates the columns right of an LU panel in one kernel: row swaps, solve of the top rows, update
 * of the rows below. It runs between a panel and the next one, where launches and dependent
 * accesses dominate: three separate kernels take several times as long.
 *
 * A cluster of blocks has COLUMNS columns; each of its blocks has the top and a part of the rows
 * below. Every block solves for the top itself, so blocks exchange nothing. One cluster barrier,
 * hidden behind the products, separates the last read of a row from the first write. The panel's
 * elements left of a block's rows are copied to shared memory meanwhile, by the copy engine where
 * alignment permits. Products in double precision use the tensor cores, which round as FMA does.
 *
 * Cost: pivots and the rows that they name, two dependent accesses; n/2 steps of two shuffles and
 * three FMAs; 2(m-n) COLUMNS n operations on a block's share of rows; one write.
 *
 * docs/experiments/lu-columns.md has measurements and rejected variants. */
#include "lib/base/base.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "lib/device/cluster.cuh"
#include "lib/device/current.h"
#include "lib/device/early_launch.cuh"
#include "lib/device/launch_bounds.cuh"
#include "lu_rows.cuh"
#include "lib/device/resident.h"

namespace
{

const int FEW = 8; /* blocks of a cluster, while they can process all rows at once */
/* Of a block that has a multiprocessor to itself: more than half of the shared memory. */
const int ALONE_BYTES = 120 << 10;
const int MOVED_BYTES = 16 << 10; /* for the destinations of top rows among a block's rows */

template <typename T>
__global__ void __launch_bounds__(THREADS, sm_blocks(THREADS, 2)) columns_kernel(const columns<T> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(16) unsigned char bytes[];
	top<T, WIDTH> &s = *(top<T, WIDTH> *)bytes;
	T *slab = (T *)(&s + 1);
	int *moved = (int *)(slab + WIDTH * PITCH<T>); /* the top row that moves here, or -1 */
	__shared__ uint64_t full;                      /* mbarrier: the slab has arrived */
	const int rank = (int)cluster_rank();
	const int column = (int)(blockIdx.x / cluster_blocks()) * COLUMNS, n = g.n - column;
	const int first = g.k + rank * g.share, count = max(0, min(g.share, g.m - first));
	const bool engine = engine_takes(g.a, g.lda, sizeof(T), g.k);
	const T *a = g.a + first;
	T *c = g.c + first + column * g.ldc;
	share<T> mine;

	if (threadIdx.x == 0)
		arrivals_set(&full, 1, 1);
	__syncthreads();
	early_begin();
	fetch_old(g, s, column);
	fetch_triangle(g, s);
	if (engine)
		engine_fetch<PITCH<T>>(a, g.lda, min(count, AT_ONCE<T>), slab, &full);
	else
		fetch_slab(g, a, 0, count, slab);
	read_pivots(g, s);
	if (engine)
		copy_wait<0>();
	else
		copy_wait<1>();
#pragma unroll 1
	for (int i = (int)threadIdx.x; i < count; i += THREADS)
		moved[i] = -1;
	__syncthreads();
	find_origins(g, s, [&](int exchange, int row) {
		const int place = s.pivot[exchange] - first;
		if (row >= 0 && place >= 0 && place < count)
			moved[place] = row;
	});
	__syncthreads();
	solve_top(g, s, column, [&] {
		if (mine.works(count))
			load_share(mine, c, g.ldc, n, 0, count);
	});
	/* everything that other blocks may overwrite has been read: copies are complete, loaded
	 * values are used */
	asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
	for (int base = 0, turn = 0; base < count || base == 0; base += AT_ONCE<T>, turn++) {
		const int rows = min(count - base, AT_ONCE<T>);
		if (base > 0) {
			__syncthreads();
			if (engine)
				engine_fetch<PITCH<T>>(a + base, g.lda, rows, slab, &full);
			else
				fetch_slab(g, a, base, count, slab);
			if (mine.works(rows))
				load_share(mine, c, g.ldc, n, base, count);
		}
		if (engine)
			engine_wait(&full, (uint32_t)turn % 2);
		else
			copy_wait<0>();
		__syncthreads();
		if (mine.works(rows)) {
			take_moved(mine, s.old, moved, base, count);
			mine.multiply(slab, s.rows);
		}
		if (base == 0)
			asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
		if (mine.works(rows))
			store_share(mine, c, g.ldc, n, base, count);
	}
	if (rank == 0)
		store_top(g, s, column);
#endif
}

const void *kernel_of(enum precision precision)
{
	return precision == SINGLE ? (const void *)columns_kernel<float>
	                           : (const void *)columns_kernel<double>;
}

template <typename T> int64_t fixed_bytes(void)
{
	return (int64_t)(sizeof(top<T, WIDTH>) + sizeof(T) * WIDTH * PITCH<T>);
}

int64_t fixed_bytes(enum precision precision)
{
	return precision == SINGLE ? fixed_bytes<float>() : fixed_bytes<double>();
}

/* How the rows below are divided among the blocks of a cluster. Up to half as many blocks as
 * multiprocessors have one each to themselves. */
struct sharing {
	int blocks;
	int64_t share, bytes; /* of a block: rows below, and shared memory */
};

struct sharing share_out(enum precision precision, int64_t m, int64_t k, int64_t clusters)
{
	static_assert(
	        CLUSTER_MAX * AT_ONCE<float> * sizeof(float) == BLOCK_LU_COLUMNS_TURN &&
	                CLUSTER_MAX * AT_ONCE<double> * sizeof(double) == BLOCK_LU_COLUMNS_TURN,
	        "what the model takes it for");
	const int64_t at_once = precision == SINGLE ? AT_ONCE<float> : AT_ONCE<double>;
	const int blocks = m - k <= FEW * at_once ? FEW : CLUSTER_MAX;
	const int64_t share = ((m - k + blocks - 1) / blocks + 31) / 32 * 32;
	const int64_t bytes = fixed_bytes(precision) + share * (int64_t)sizeof(int);
	const bool alone = 2 * clusters * blocks <= gpu_current()->sm_count;
	return {blocks, share, alone && bytes < ALONE_BYTES ? ALONE_BYTES : bytes};
}

int64_t most_bytes(enum precision precision)
{
	const int64_t bytes = fixed_bytes(precision) + MOVED_BYTES;
	return bytes < ALONE_BYTES ? ALONE_BYTES : bytes;
}

/* Whether the current device runs the kernels in the largest clusters. */
bool launchable(enum precision precision)
{
	static thread_local struct cluster_answer last[2];
	return cluster_takes(&last[precision == DOUBLE], kernel_of(precision), CLUSTER_MAX, THREADS,
	        (size_t)most_bytes(precision));
}

template <typename T> int launch(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	const int64_t clusters = (c.n + COLUMNS - 1) / COLUMNS;
	const struct sharing sharing = share_out(c.precision, c.m, p.n, clusters);
	columns<T> g = {(const T *)matrix_address(a), a.ld, (T *)matrix_address(c), c.ld, (int)c.m,
	        (int)p.n, (int)c.n, (int)sharing.share, p.data};
	return early_cluster_launch(kernel_of(c.precision), (int)clusters * sharing.blocks,
	        sharing.blocks, THREADS, (size_t)sharing.bytes, &g, stream);
}

} // namespace

extern "C" bool block_lu_columns_fits(enum precision precision, int64_t m, int64_t k)
{
	return k > 0 && k <= BLOCK_LU_COLUMNS_MAX && m <= INT32_MAX && launchable(precision) &&
	       share_out(precision, m, k, 1).bytes <= most_bytes(precision);
}

extern "C" int block_lu_columns(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	if (c.n == 0)
		return (int)cudaSuccess;
	return c.precision == SINGLE ? launch<float>(a, p, c, stream)
	                             : launch<double>(a, p, c, stream);
}
