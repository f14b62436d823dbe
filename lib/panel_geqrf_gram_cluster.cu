/* SPDX-License-Identifier: MIT */
/* The Householder panel by the Gram matrix (lib/panel_geqrf_gram.cu) in one kernel of one cluster
 * of multiprocessors, for as many rows as their shared memory holds: between kernels there is more
 * time than in them, and beside an update they wait for multiprocessors again and again.
 *
 * Each block has its rows in shared memory. Sums travel through distributed shared memory: each
 * block adds up its part of them and sends it to the first block, which makes the steps and T; all
 * fetch Y from there. So a panel has six barriers of the cluster instead of one exchange a column.
 *
 * Cost: the flight of the panel, 3 m n^2 operations on 16 multiprocessors' tensor cores, a chain of
 * n pivots in one block.
 *
 * Log (H200, 64 columns, us; the exchange a column 67 for 128 rows, 92 for 1024): 30 predicted for
 * 4096 rows, 72 measured, 47 for 128. Of the latter's 95 thousand cycles the pivots take 33 (516
 * each, bound by reads of shared memory: 180 predicted), the sums' two ways 16, T 11, R's and T's
 * ways out 9. From 1024 rows on 16 blocks fetch Y from one block's memory, which takes 26 thousand
 * instead of 4: through memory would be a tenth. */
#include "base.h"
#include "cluster.cuh"
#include "early_launch.cuh"
#include "gemm_copy.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_gram_tiles.cuh"
#include "panel_geometry.h"
#include "panel_sums.cuh"
#include "resident.h"

namespace
{

enum {
	PAD = 4, /* rows between columns: no bank conflicts */
	TREE = WARPS / 2,
	ROWS_STEP = 32,
	MOST_ROWS = PANEL_GRAM_CLUSTER_ROWS / CLUSTER_MAX, /* of a block */
	FEWEST_BLOCKS = 2
};

struct panel {
	float *a;
	int64_t lda;
	int m, n, share; /* share: rows of a block */
	float *tau;
	int *done;
	float *v, *t; /* NULL or where V and T go */
	int64_t ldv, ldt;
};

struct memory {
	union {
		struct steps steps;
		struct triangles triangles;
		double tree[TREE][TILE_WORDS];
	};
	double words[TILE_WORDS]; /* all blocks' sums, in the first; Y as multiply_tiles reads it */
	double squares[ORDER];
	bool nothing[ORDER];
	int fine;
	alignas(16) float slab[1]; /* [ORDER][share + PAD] */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

struct seat {
	int lane, warp, rank, blocks;
	int first, count; /* of its rows */
	int pitch;
};

__device__ __forceinline__ double fetch_double(uint32_t address)
{
	double value;
	asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
	return value;
}

__device__ __forceinline__ void fetch_rows(
        const struct panel &g, struct memory &s, const struct seat &t)
{
	for (int column = t.warp; column < ORDER; column += WARPS)
#pragma unroll 4
		for (int row = t.lane; row < g.share; row += 32) {
			const bool inside = row < t.count && column < g.n;
			copy_start<4>(&s.slab[column * t.pitch + row],
			        inside ? &g.a[t.first + row + column * g.lda] : g.a,
			        inside ? 4 : 0);
		}
	copy_commit();
	copy_wait<0>();
	__syncthreads();
}

/* The block's sums, in s.tree[0], and a barrier of the block before they are changed. */
__device__ __forceinline__ void add_warps(struct memory &s, const struct seat &t, tiles &sum)
{
#pragma unroll
	for (int half = TREE; half >= 1; half /= 2) {
		__syncthreads();
		if (t.warp >= half && t.warp < 2 * half)
#pragma unroll
			for (int i = 0; i < TILES * 4; i++)
				s.tree[t.warp - half][i * 32 + t.lane] = sum[i / 4][i % 4];
		__syncthreads();
		if (t.warp < half)
#pragma unroll
			for (int i = 0; i < TILES * 4; i++)
				sum[i / 4][i % 4] += s.tree[t.warp][i * 32 + t.lane];
	}
	if (t.warp == 0)
#pragma unroll
		for (int i = 0; i < TILES * 4; i++)
			s.tree[0][i * 32 + t.lane] = sum[i / 4][i % 4];
}

/* The sums of all blocks to the first one's s.words, in the order of the blocks. */
__device__ __forceinline__ void add_blocks(struct memory &s, const struct seat &t, tiles &sum)
{
	add_warps(s, t, sum);
	cluster_barrier();
	const int part = TILE_WORDS / t.blocks;
	const uint32_t from = shared_address(s.tree[0]);
	for (int i = t.rank * part + (int)threadIdx.x; i < (t.rank + 1) * part; i += THREADS) {
		double of[CLUSTER_MAX];
#pragma unroll
		for (int b = 0; b < CLUSTER_MAX; b++)
			of[b] = b < t.blocks ? fetch_double(cluster_address(
			                               from + 8 * (uint32_t)i, (uint32_t)b))
			                     : 0;
#pragma unroll
		for (int b = 1; b < CLUSTER_MAX; b++)
			of[0] += of[b];
		cluster_store(&s.words[i], 0, of[0]);
	}
	cluster_barrier();
}

__device__ __forceinline__ void add_gram(const struct memory &s, const struct seat &t, tiles &sum)
{
	const float *a = s.slab + t.lane % 4 + t.lane / 4 * t.pitch;
	for (int first = 8 * t.warp; first < t.count; first += 8 * WARPS) {
		vectors f;
#pragma unroll
		for (int o = 0; o < OCTETS; o++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				f[o][e] = a[first + 4 * e + 8 * o * t.pitch];
		accumulate(sum, f);
	}
}

/* The first block makes the steps and writes R and V1. */
__device__ __forceinline__ void make_steps(
        const struct panel &g, struct memory &s, const struct seat &t)
{
	quarter gram, top, made;

#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const bool inside = row < g.n && column < g.n;
			made[i][j] = row == column;
			top[i][j] = inside ? s.slab[row + column * t.pitch] : 0;
			gram[i][j] = s.words[word_of(min(row, column), max(row, column))];
			if (row == column)
				s.squares[row] = gram[i][j];
		}
	reflect(s.steps, g.n, gram, top, made);
	const bool fine = settle(s.steps, g.n, s.squares);
	if (threadIdx.x == 0)
		s.fine = *g.done = fine;
	for (int e = (int)threadIdx.x; fine && e < ORDER * g.n; e += THREADS) {
		const int row = e % ORDER, column = e / ORDER;
		if (row >= g.n)
			continue;
		const float value = result_of(s.steps, row, column);
		g.a[row + column * g.lda] = value;
		s.slab[row + column * t.pitch] = row > column ? value : (float)(row == column);
		if (g.v)
			g.v[row + column * g.ldv] = s.slab[row + column * t.pitch];
	}
}

/* Y from the first block, as multiply_tiles reads it. */
__device__ __forceinline__ void fetch_triangle(struct memory &s, int n)
{
	const uint32_t made = cluster_address(shared_address(s.steps.made), 0);
#pragma unroll
	for (int i = 0; i < TILE_WORDS / THREADS; i++) {
		const int word = (int)threadIdx.x + i * THREADS;
		int row, column;
		vector_place_of(word, &row, &column);
		const double value =
		        fetch_double(made + 8 * (uint32_t)(column * (ORDER + 1) + row));
		s.words[word] = row > column || column >= n ? row == column : value;
	}
}

/* V1, in the first block's slab. */
__device__ __forceinline__ void take_top(
        const struct panel &g, const struct memory &s, const struct seat &t, vectors &v)
{
#pragma unroll
	for (int o = 0; o < OCTETS; o++)
#pragma unroll
		for (int e = 0; e < 2; e++) {
			const int row = 8 * t.warp + 2 * (t.lane % 4) + e,
			          column = 8 * o + t.lane / 4;
			v[o][e] = row < g.n && column < g.n ? s.slab[row + column * t.pitch] : 0;
		}
}

/* V2 = A2 Y of eight rows of the block. */
__device__ __forceinline__ void make_vectors(
        const struct panel &g, const struct memory &s, const struct seat &t, int first, vectors &v)
{
	double x[OCTETS][2];
	const int from = first + t.lane / 4;

#pragma unroll
	for (int o = 0; o < OCTETS; o++)
#pragma unroll
		for (int e = 0; e < 2; e++)
			x[o][e] = from < t.count
			                  ? s.slab[from + (8 * o + 4 * e + t.lane % 4) * t.pitch]
			                  : 0.0f;
#pragma unroll
	for (int p = 0; p < OCTETS / 2; p++) {
		double c[4];
		multiply_tiles(p, s.words, x, c);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const int column = 16 * p + 8 * (i / 2) + t.lane / 4;
			const int row = first + 2 * (t.lane % 4) + i % 2;
			const float rounded = (float)c[i];
			v[2 * p + i / 2][i % 2] = rounded;
			if (row >= t.count || column >= g.n)
				continue;
			g.a[t.first + row + column * g.lda] = rounded;
			if (g.v)
				g.v[t.first + row + column * g.ldv] = rounded;
		}
	}
}

__device__ __forceinline__ void factorize(const struct panel &g, struct memory &s)
{
	struct seat t;
	t.lane = (int)threadIdx.x % 32;
	t.warp = (int)threadIdx.x / 32;
	t.rank = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.first = t.rank * g.share;
	t.count = max(0, min(g.share, g.m - t.first));
	t.pitch = g.share + PAD;
	{
		tiles sum = {};
		fetch_rows(g, s, t);
		add_gram(s, t, sum);
		add_blocks(s, t, sum);
	}
	if (t.rank == 0)
		make_steps(g, s, t);
	cluster_barrier();
	const uint32_t fine = cluster_address(shared_address(&s.fine), 0);
	int done;
	asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(done) : "r"(fine) : "memory");
	if (done)
		fetch_triangle(s, g.n);
	cluster_barrier();
	if (!done)
		return;
	{
		tiles sum = {};
		const int from = t.rank == 0 ? g.n : 0;
		if (t.rank == 0) {
			vectors v;
			take_top(g, s, t, v);
			accumulate(sum, v);
		}
		for (int first = from + 8 * t.warp; first < t.count; first += 8 * WARPS) {
			vectors v;
			make_vectors(g, s, t, first, v);
			accumulate(sum, v);
		}
		add_blocks(s, t, sum);
	}
	if (t.rank != 0)
		return;
	make_t(s.triangles, s.nothing, g.n, true, g.tau,
	        [&](int i, int j) { return s.words[word_of(i, j)]; });
	store_t(s.triangles, s.nothing, g.n, true, g.a, g.lda, g.t, g.ldt);
}

#endif

__global__ void __launch_bounds__(THREADS, 1) gram_cluster_kernel(const struct panel g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(16) unsigned char bytes[];
	early_begin();
	factorize(g, *(struct memory *)bytes);
#endif
}

/* ---- launch ---- */

int blocks_of(int64_t m)
{
	int blocks = FEWEST_BLOCKS;
	while (blocks < CLUSTER_MAX && (int64_t)2 * blocks * ORDER <= m)
		blocks *= 2;
	return blocks;
}

/* Rows of a block: all of the top are the first one's. */
int64_t share_of(int64_t m, int blocks)
{
	const int64_t share = (m + blocks - 1) / blocks;
	return (share > ORDER ? share + ROWS_STEP - 1 : (int64_t)ORDER) / ROWS_STEP * ROWS_STEP;
}

int64_t bytes_of(int64_t share)
{
	return (int64_t)sizeof(struct memory) + (share + PAD) * ORDER * (int64_t)sizeof(float);
}

/* Whether the current device takes the largest cluster with the most rows. */
bool launchable(void)
{
	static thread_local struct cluster_answer last;
	return cluster_takes(&last, (const void *)gram_cluster_kernel, CLUSTER_MAX, THREADS,
	        (size_t)bytes_of(MOST_ROWS));
}

} // namespace

extern "C" bool panel_geqrf_gram_cluster_fits(int64_t m, int64_t n)
{
	return n <= ORDER && m >= n && m <= PANEL_GRAM_CLUSTER_ROWS && launchable();
}

extern "C" int panel_geqrf_gram_cluster(float *a, int64_t lda, int64_t m, int64_t n, float *tau,
        int *done, const struct block_reflector *r, void *stream)
{
	const int blocks = blocks_of(m);
	struct panel g = {
	        a, lda, (int)m, (int)n, (int)share_of(m, blocks), tau, done, NULL, NULL, 0, 0};
	if (r) {
		g.v = (float *)r->v;
		g.ldv = r->ldv;
		g.t = (float *)r->t;
		g.ldt = r->ldt;
	}
	return early_cluster_launch((const void *)gram_cluster_kernel, blocks, blocks, THREADS,
	        (size_t)bytes_of(g.share), &g, stream);
}
