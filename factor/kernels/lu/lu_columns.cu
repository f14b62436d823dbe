/* SPDX-License-Identifier: MIT */
/* Columns right of an LU panel in one kernel: their rows exchanged, the top solved, the rest
 * updated. It stands between a panel and the next one, where launches and dependent accesses are
 * all the cost: separate kernels for the three steps took about 21 us (H200, fp32, 1024 rows of 64
 * columns), of which their operations are less than one.
 *
 * A cluster of blocks has COLUMNS columns, each of its blocks the top and a part of the rows below.
 * Every block solves for the top itself, so that nothing travels between them; one barrier of the
 * cluster, hidden behind the products, stands between the last read of a row and the first write.
 * The panel's elements left of a block's rows come to shared memory meanwhile. Products in double
 * precision are the tensor cores', which round as FMA does.
 *
 * Cost: pivots, rows that they name: two dependent accesses; n/2 steps of two shuffles and three
 * FMAs; 2(m-n) COLUMNS n operations on a block's share of rows; one write.
 *
 * Log (H200, 64 columns right of 64, 1024 rows, start to start). Floor from latencies: a launch, 3
 * accesses of L2, 32 steps of 20 ns, 0.7 us of products: 4. With the panel's elements in registers
 * and all loops unrolled 9.0 in fp32 and 7.4 in fp64. In loops, with two blocks on a
 * multiprocessor, 10.0 and 10.3, but 128 columns take no longer than 64, which had taken twice as
 * long: all clusters fit at once. No branches in the solution, and a multiprocessor to itself for
 * each of 64 blocks: 6 predicted, 8.4 and 9.3 measured; where a cluster has 16 blocks (4096 rows)
 * that makes two rounds, 14.8 instead of 10.1, and is not done. The whole LU by blocks of 64
 * columns, fp32, before and after: n = 512 460, 382; 1024 930, 780; 2048 1969, 1650; 4096 5234,
 * 4530 us.
 *
 * Where 9.0 us behind a panel of 1024 rows went (H100, cycles): 3640 until pivots, triangle and top
 * were there, 1880 to find where rows come from, 6100 until the top was solved, of which the chain
 * is 2000, 2900 for the products. Loads of rows from elsewhere waited behind the copies of the
 * panel's rows, so these are the copy engine's now (a warp starts such copies one by one, 60 cycles
 * each: by two warps they came after the solution); where rows come from took a look at all
 * exchanges for each hop, now one look and reads; copies with branches waited for each other, and
 * all for the pivots; a product of 128 rows was two warps'. Now 2900, 910, 2800, 1740: 6.2 us, of
 * 2048 rows 6.7 (8.8), of 4096 10.1 (10.6). The whole LU by blocks of 64 columns, with the panels
 * of factor/kernels/lu/panel_cluster.cu as they have become (H100): n = 512 399, now 357, 1024 814, 714, 2048
 * 1734, 1602, 4096 4487, 4206 us, in fp64 479, 433, 998, 911, 2197, 2099.
 *
 * From 2048 rows on 8 blocks instead of 16, alone on a multiprocessor, with two or four shares each
 * in turn: 2 us of 10 predicted, none measured, with the next share fetched ahead 0.5 % of the LU
 * of 4096 (H200, by 3xFP16 3.78 and 3.76 ms, in fp64 5.69 and 5.65; 8192 the same). Not kept. */
#include "lib/base/base.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "lib/device/cluster.cuh"
#include "lib/device/early_launch.cuh"
#include "lib/device/launch_bounds.cuh"
#include "lu_rows.cuh"
#include "lib/device/resident.h"

namespace
{

const int FEW = 8;    /* blocks of a cluster, as long as these work on all rows at once */
const int ALONE = 64; /* blocks up to which each has a multiprocessor to itself, */
const int ALONE_BYTES = 120 << 10; /* as it asks for more than half of the shared memory */
const int MOVED_BYTES = 16 << 10;  /* for rows below, of a block, that the top moves to */

template <typename T>
__global__ void __launch_bounds__(THREADS, sm_blocks(THREADS, 2))
        columns_kernel(const struct columns<T> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(16) unsigned char bytes[];
	struct top<T, WIDTH> &s = *(struct top<T, WIDTH> *)bytes;
	T *slab = (T *)(&s + 1);
	int *moved = (int *)(slab + WIDTH * PITCH<T>); /* the row of the top that comes, or -1 */
	__shared__ uint64_t full;                      /* an mbarrier: the slab has come */
	const int rank = (int)cluster_rank();
	const int column = (int)(blockIdx.x / cluster_blocks()) * COLUMNS, n = g.n - column;
	const int first = g.k + rank * g.share, count = max(0, min(g.share, g.m - first));
	const bool engine = engine_takes(g.a, g.lda, sizeof(T), g.k);
	const T *a = g.a + first;
	T *c = g.c + first + column * g.ldc;
	struct share<T> mine;

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
	/* all that others may overwrite has been read: by copies that are complete, and by loads
	 * whose values were used */
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

/* ---- launch ---- */

const void *kernel_of(enum precision precision)
{
	return precision == SINGLE ? (const void *)columns_kernel<float>
	                           : (const void *)columns_kernel<double>;
}

template <typename T> int64_t fixed_bytes(void)
{
	return (int64_t)(sizeof(struct top<T, WIDTH>) + sizeof(T) * WIDTH * PITCH<T>);
}

int64_t fixed_bytes(enum precision precision)
{
	return precision == SINGLE ? fixed_bytes<float>() : fixed_bytes<double>();
}

/* How a panel of m rows is shared out to the blocks of a cluster. */
struct sharing {
	int blocks;
	int64_t share, bytes; /* rows below, and shared memory, of a block */
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
	return {blocks, share,
	        clusters * blocks <= ALONE && bytes < ALONE_BYTES ? ALONE_BYTES : bytes};
}

int64_t most_bytes(enum precision precision)
{
	const int64_t bytes = fixed_bytes(precision) + MOVED_BYTES;
	return bytes < ALONE_BYTES ? ALONE_BYTES : bytes;
}

/* Whether the current device takes the kernels in the largest clusters. */
bool launchable(enum precision precision)
{
	static thread_local int known_device = -1;
	static thread_local bool known[2];
	int device = 0;
	if (cudaGetDevice(&device) != cudaSuccess)
		return false;
	for (int i = 0; i < 2 && device != known_device; i++) {
		const enum precision p = i ? DOUBLE : SINGLE;
		const int64_t bytes = most_bytes(p);
		known[i] = cudaFuncSetAttribute(kernel_of(p),
		                   cudaFuncAttributeMaxDynamicSharedMemorySize,
		                   (int)bytes) == cudaSuccess &&
		           cluster_resident(kernel_of(p), CLUSTER_MAX, THREADS, (size_t)bytes) > 0;
	}
	cudaGetLastError(); /* a size that the device refuses is an answer here */
	known_device = device;
	return known[precision == DOUBLE];
}

template <typename T> int launch(struct matrix a, struct pivots p, struct matrix c, void *stream)
{
	const int64_t clusters = (c.n + COLUMNS - 1) / COLUMNS;
	const struct sharing sharing = share_out(c.precision, c.m, p.n, clusters);
	struct columns<T> g = {
		(const T *)matrix_address(a), a.ld, (T *)matrix_address(c), c.ld, (int)c.m,
		        (int)p.n, (int)c.n, (int)sharing.share, p.data
	};
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
