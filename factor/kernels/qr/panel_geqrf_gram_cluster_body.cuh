/* SPDX-License-Identifier: MIT */
/* The work of the blocks of factor/kernels/qr/panel_geqrf_gram_cluster.cu, from their rows to R, V
 * and T. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/cluster.cuh"
#include "factor/kernels/gemm/gemm_copy.cuh"
#include "panel_geqrf_cluster_body.cuh"
#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_gram_tiles.cuh"
#include "factor/kernels/lu/panel_sums.cuh"

namespace
{

enum {
	PAD = 4, /* rows between columns: no bank conflicts */
	TREE = WARPS / 2
};

struct gram_panel {
	float *a;
	int64_t lda;
	int m, n;
	int first, share; /* rows of the first block, and of each other block */
	float *tau;
	float *v, *t; /* NULL or the place of V and T */
	int64_t ldv, ldt;
	uint32_t *error;
	double *y; /* Y in the order of multiply_triangle */
};

struct memory {
	int fine;
	bool nothing[ORDER];
	double squares[ORDER];
	double words[TILE_WORDS]; /* in the first block, all blocks' sums; Y for multiply_triangle
	                           */
	union alignas(16) {
		struct steps steps;
		struct triangles triangles;
		struct shared<float, ORDER> columns;
		double tree[TREE - 1][TILE_WORDS]; /* and words */
	}; /* steps and triangles are in the first block only, in front of its rows */
};

/* Offset of a block's rows in its shared memory: [ORDER][pitch]. */
const int64_t SLAB_FIRST = sizeof(struct memory);
const int64_t SLAB = offsetof(struct memory, tree) + sizeof(memory::tree);

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

struct place {
	int lane, warp, rank, blocks;
	int first, count; /* of its rows */
	int share, pitch;
	float *slab;
	bool a_pairs, v_pairs; /* two rows from n on in one store */
};

__device__ __forceinline__ double fetch_double(uint32_t address)
{
	double value;
	asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
	return value;
}

/* Rows `from` to `to` of the block, as a group of asynchronous copies. */
template <int BYTES>
__device__ __forceinline__ void fetch_by(
        const struct gram_panel &g, const struct place &t, int from, int to)
{
	const int words = BYTES / 4;
	for (int column = t.warp; column < ORDER; column += WARPS)
#pragma unroll 4
		for (int row = from + words * t.lane; row < to; row += words * 32) {
			const int valid =
			        column < g.n ? max(0, min(BYTES, 4 * (t.count - row))) : 0;
			copy_start<BYTES>(&t.slab[column * t.pitch + row],
			        valid ? &g.a[t.first + row + column * g.lda] : g.a, valid);
		}
	copy_commit();
}

__device__ __forceinline__ void fetch_rows(
        const struct gram_panel &g, const struct place &t, int from, int to)
{
	if ((uint64_t)g.a % 16 == 0 && g.lda % 4 == 0)
		fetch_by<16>(g, t, from, to);
	else
		fetch_by<4>(g, t, from, to);
}

__device__ __forceinline__ double *tree_of(struct memory &s, int warp)
{
	return warp == TREE - 1 ? s.words : s.tree[warp];
}

/* The block's sums, in s.tree[0]. A block barrier must precede changes to them. */
__device__ __forceinline__ void sum_block(struct memory &s, const struct place &t, tiles &sum)
{
	add_warps([&](int warp) { return tree_of(s, warp); }, sum);
	if (t.warp == 0)
#pragma unroll
		for (int i = 0; i < TILES * 4; i++)
			s.tree[0][i * 32 + t.lane] = sum[i / 4][i % 4];
}

/* The sums of all blocks to the first one's s.words, in the order of the blocks. */
__device__ __forceinline__ void add_blocks(struct memory &s, const struct place &t, tiles &sum)
{
	sum_block(s, t, sum);
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

__device__ __forceinline__ void add_gram(const struct place &t, int from, int to, tiles &sum)
{
	const float *a = t.slab + t.lane % 4 + t.lane / 4 * t.pitch;
	for (int first = from + 8 * t.warp; first < to; first += 8 * WARPS) {
		vectors f;
#pragma unroll
		for (int o = 0; o < OCTETS; o++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				f[o][e] = a[first + 4 * e + 8 * o * t.pitch];
		accumulate(sum, f);
	}
}

/* The first block makes the steps and writes Y. */
__device__ __forceinline__ void make_steps(
        const struct gram_panel &g, struct memory &s, const struct place &t)
{
	quarter gram, top, made;

#pragma unroll
	for (int i = 0; i < STRIPES; i++)
#pragma unroll
		for (int j = 0; j < STRIPES; j++) {
			const int row = at_row(i), column = at_column(j);
			const bool inside = row < g.n && column < g.n;
			made[i][j] = row == column;
			top[i][j] = inside ? t.slab[row + column * t.pitch] : 0;
			gram[i][j] = s.words[word_of(min(row, column), max(row, column))];
			if (row == column)
				s.squares[row] = gram[i][j];
		}
	reflect(s.steps, g.n, gram, top, made);
	const bool fine = settle(s.steps, g.n, s.squares);
	if (threadIdx.x == 0)
		s.fine = fine;
	for (int e = (int)threadIdx.x; fine && e < TILE_WORDS; e += THREADS) {
		int row, column;
		vector_place_of(e, &row, &column);
		g.y[e] = made_of(s.steps, g.n, row, column);
	}
}

/* R and V1, while the other blocks make their vectors. */
__device__ __forceinline__ void store_top(
        const struct gram_panel &g, const struct memory &s, const struct place &t)
{
	for (int e = (int)threadIdx.x; e < ORDER * g.n; e += THREADS) {
		const int row = e % ORDER, column = e / ORDER;
		if (row >= g.n)
			continue;
		const float value = result_of<float>(s.steps, row, column);
		g.a[row + column * g.lda] = value;
		t.slab[row + column * t.pitch] = row > column ? value : (float)(row == column);
		if (g.v)
			g.v[row + column * g.ldv] = t.slab[row + column * t.pitch];
	}
}

/* Y through global memory, from which all blocks read it at once. */
__device__ __forceinline__ void fetch_triangle(const struct gram_panel &g, struct memory &s)
{
#pragma unroll
	for (int i = 0; i < TILE_WORDS / THREADS; i++)
		s.words[(int)threadIdx.x + i * THREADS] =
		        __ldcg(&g.y[(int)threadIdx.x + i * THREADS]);
	__syncthreads();
}

/* V1, in the first block's slab. */
__device__ __forceinline__ void take_top(
        const struct gram_panel &g, const struct place &t, vectors &v)
{
#pragma unroll
	for (int o = 0; o < OCTETS; o++)
#pragma unroll
		for (int e = 0; e < 2; e++) {
			const int row = 8 * t.warp + 2 * (t.lane % 4) + e,
			          column = 8 * o + t.lane / 4;
			v[o][e] = row < g.n && column < g.n ? t.slab[row + column * t.pitch] : 0;
		}
}

/* Stores a lane's `rows` (at most 2) from `to` on in n columns, two in one store where alignment
 * allows. */
__device__ __forceinline__ void store_pairs(
        const float2 (&pair)[OCTETS], float *to, int64_t ld, int n, int rows, bool aligned)
{
	const int column = (int)threadIdx.x % 32 / 4;
	float *at = to + column * ld;
	if (aligned && rows >= 2 && n == ORDER) {
#pragma unroll
		for (int o = 0; o < OCTETS; o++, at += 8 * ld)
			*(float2 *)at = pair[o];
		return;
	}
#pragma unroll
	for (int o = 0; o < OCTETS; o++, at += 8 * ld) {
		if (8 * o + column < n && rows >= 1)
			at[0] = pair[o].x;
		if (8 * o + column < n && rows >= 2)
			at[1] = pair[o].y;
	}
}

/* V2 = A2 Y for eight rows of the block. */
__device__ __forceinline__ void make_vectors(const struct gram_panel &g, const struct memory &s,
        const struct place &t, int first, vectors &v)
{
	const int from = first + t.lane / 4, row = first + 2 * (t.lane % 4);
	const int64_t at = t.first + row;
	const auto rows = [&](int o, int e) {
		return from < t.count ? t.slab[from + (8 * o + 4 * e + t.lane % 4) * t.pitch]
		                      : 0.0f;
	};
	double c[OCTETS / 2][4];
	float2 pair[OCTETS];

	multiply_triangle(s.words, rows, c);
	round_vectors(c, pair, v);
	store_pairs(pair, g.a + at, g.lda, g.n, t.count - row, t.a_pairs);
	if (g.v)
		store_pairs(pair, g.v + at, g.ldv, g.n, t.count - row, t.v_pairs);
}

__device__ __forceinline__ struct place take_place(const struct gram_panel &g, struct memory &s)
{
	struct place t;
	t.lane = (int)threadIdx.x % 32;
	t.warp = (int)threadIdx.x / 32;
	t.rank = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.first = t.rank == 0 ? 0 : g.first + (t.rank - 1) * g.share;
	t.share = t.rank == 0 ? g.first : g.share;
	t.count = max(0, min(t.share, g.m - t.first));
	t.pitch = t.share + PAD;
	t.a_pairs = g.n % 2 == 0 && g.lda % 2 == 0 && (uint64_t)g.a % 8 == 0;
	t.v_pairs = g.n % 2 == 0 && g.ldv % 2 == 0 && (uint64_t)g.v % 8 == 0;
	t.slab = (float *)((char *)&s + (t.rank == 0 ? SLAB_FIRST : SLAB));
	return t;
}

/* False, with the panel unchanged, when another form must factorize it. */
__device__ __forceinline__ bool factorize_gram(const struct gram_panel &g, struct memory &s)
{
	const struct place t = take_place(g, s);
	{
		tiles sum = {};
		const int half = t.share / 2 / (8 * WARPS) * (8 * WARPS);
		fetch_rows(g, t, 0, half);
		fetch_rows(g, t, half, t.share);
		copy_wait<1>();
		__syncthreads();
		add_gram(t, 0, min(half, t.count), sum);
		copy_wait<0>();
		__syncthreads();
		add_gram(t, half, t.count, sum);
		add_blocks(s, t, sum);
	}
	if (t.rank == 0)
		make_steps(g, s, t);
	cluster_barrier();
	const uint32_t fine = cluster_address(shared_address(&s.fine), 0);
	int done;
	asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(done) : "r"(fine) : "memory");
	if (!done) {
		cluster_barrier(); /* all blocks have read the memory that the other form uses, too
		                    */
		return false;
	}
	fetch_triangle(g, s);
	{
		tiles sum = {};
		const int from = t.rank == 0 ? g.n : 0;
		if (t.rank == 0) {
			vectors v;
			store_top(g, s, t);
			__syncthreads();
			take_top(g, t, v);
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
		return true;
	make_t(s.triangles, s.nothing, g.n, true, g.tau,
	        [&](int i, int j) { return s.words[word_of(i, j)]; });
	store_t(s.triangles, s.nothing, g.n, true, g.a, g.lda, g.t, g.ldt);
	return true;
}

#endif

} // namespace
