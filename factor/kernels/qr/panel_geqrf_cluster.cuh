/* SPDX-License-Identifier: MIT */
/* Sums over the blocks of one cluster for its Householder panel
 * (factor/kernels/qr/panel_geqrf_cluster.cu): the distribution of rows and columns, the shared
 * memory of a block, and the exchange. */
#pragma once

#include "lib/base/base.h"
#include "factor/kernels/lu/panel_sums.cuh"
#include "panel_geqrf_plan.h"

namespace
{

enum {
	TURNS = 2 /* a block sends for column j + 2 when it has had all sums of column j + 1, which
	             a block sends when all its warps are done with those of column j */
};

/* Columns in the order of their lanes: [lane rank][register]. Entries of missing warps or blocks
 * are zero. */
template <typename real, int COLUMNS> struct alignas(16) shared {
	static constexpr int per = 16 / (int)sizeof(real); /* columns of a piece */
	struct {
		real part[CLUSTER_WARPS][COLUMNS];        /* the warps' sums */
		real own_head[COLUMNS];                   /* row j, in its block */
		real record[CLUSTER_BLOCKS + 1][COLUMNS]; /* the blocks' sums; row j */
		alignas(16) uint64_t full;                /* mbarrier: all records have arrived */
	} turn[TURNS];
	/* for each warp: the multipliers of v in the update; tau V^T v of the columns before */
	real times[CLUSTER_WARPS][COLUMNS], known[CLUSTER_WARPS][COLUMNS];
	uint32_t left, last; /* warps that have finished; the block's last barrier, once known */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* A thread's place: in warp number `at` along the rows, with `rank` along the columns. */
struct seat {
	int thread, lane, warp, threads, warps, block, blocks;
	int at, rank;
	int row;      /* the thread's first row */
	int warp_row; /* of the warp */
	int rows;     /* of a block */
};

/* The column being eliminated. */
struct column {
	int j, rank;    /* the rank of its lanes */
	int transposed; /* rotations of the registers */
	int owner;      /* the block of row j */
	uint32_t round; /* exchange */
	bool good;      /* no wait of the thread has timed out */
};

template <typename real> struct alignas(16) piece {
	real value[16 / sizeof(real)];
};

template <typename real>
__device__ __forceinline__ struct piece<real> load_words(const real *from) {
	return *(const struct piece<real> *)from;
}

template <int LANES, int ROWS>
__device__ __forceinline__ struct seat take_seat(void)
{
	const int lanes = 32 / LANES; /* along the rows */
	struct seat t;
	t.thread = (int)threadIdx.x;
	t.lane = t.thread % 32;
	t.warp = t.thread / 32;
	t.threads = (int)blockDim.x;
	t.warps = t.threads / 32;
	t.block = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.at = t.lane % lanes;
	t.rank = t.lane / lanes;
	t.rows = t.warps * lanes * ROWS;
	t.warp_row = t.block * t.rows + t.warp * lanes * ROWS;
	t.row = t.warp_row + t.at;
	return t;
}

/* The thread's row r. */
template <int LANES> __device__ __forceinline__ int row_at(const struct seat &t, int r)
{
	return t.row + r * (32 / LANES);
}

/* The warp's first row of T. */
__device__ __forceinline__ int first_t_row(const struct seat &t)
{
	return t.block * t.warps + t.warp;
}

/* ---- exchange ---- */

template <bool largest, typename real>
__device__ __forceinline__ void add(struct piece<real> &total, const struct piece<real> &more)
{
#pragma unroll
	for (int i = 0; i < 16 / (int)sizeof(real); i++)
		total.value[i] = combine<largest>(total.value[i], more.value[i]);
}

/* The sum of the pieces of HALF records, or of 2 HALF if `all`. */
template <bool largest, int HALF, typename real>
__device__ __forceinline__ struct piece<real> total_of(const real *from, int stride, bool all) {
	struct piece<real> some[HALF], total;
#pragma unroll
	for (int i = 0; i < HALF; i++)
		some[i] = load_words(from + i * stride);
	total = some[0];
#pragma unroll
	for (int i = 1; i < HALF; i++)
		add<largest>(total, some[i]);
	if (!all)
		return total;
#pragma unroll
	for (int i = 0; i < HALF; i++)
		some[i] = load_words(from + (HALF + i) * stride);
#pragma unroll
	for (int i = 0; i < HALF; i++)
		add<largest>(total, some[i]);
	return total;
}

/* Sends the block's sums, and row j from its block, to all blocks. After a timeout a thread
 * continues without announcing or sending. To leave would need a vote in every column, and
 * announcing bytes before the last ones have arrived is a fault. */
template <bool largest, typename real, int COLUMNS>
__device__ __forceinline__ void send(
        struct shared<real, COLUMNS> &s, const struct seat &t, const struct column &c)
{
	const int pieces = COLUMNS / s.per, at = t.thread % pieces * s.per;
	auto &turn = s.turn[c.round % TURNS];
	const uint32_t full = shared_address(&turn.full);
	const int blocks = c.good ? t.blocks : 0; /* to send to */

	__syncthreads();
	if (t.thread == 0 && c.good)
		arrivals_expect(full, (uint32_t)((t.blocks + 1) * pieces) * 16);
	const struct piece<real> mine = total_of<largest, CLUSTER_WARPS / 2>(
	        &turn.part[0][at], COLUMNS, t.warps > CLUSTER_WARPS / 2);
	const uint32_t slot = shared_address(&turn.record[t.block][at]);
	for (int to = t.thread / pieces; to < blocks; to += t.threads / pieces)
		send_piece(*(const uint4 *)&mine, cluster_address(slot, (uint32_t)to),
		        cluster_address(full, (uint32_t)to));
	if (c.owner != t.block)
		return;
	const struct piece<real> head = load_words(&turn.own_head[at]);
	const uint32_t head_slot = shared_address(&turn.record[CLUSTER_BLOCKS][at]);
	for (int to = t.thread / pieces; to < blocks; to += t.threads / pieces)
		send_piece(*(const uint4 *)&head, cluster_address(head_slot, (uint32_t)to),
		        cluster_address(full, (uint32_t)to));
}

/* Waits for the blocks' records, unless a thread has timed out, and notes a timeout in c->good.
 * Every warp combines the records. A lane gets piece number lane % pieces. */
template <bool largest, typename real, int COLUMNS>
__device__ __forceinline__ struct piece<real> receive(const struct shared<real, COLUMNS> &s,
        const struct seat &t, struct column *c, uint32_t *error) {
	const int pieces = COLUMNS / s.per, groups = 32 / pieces;
	const auto &turn = s.turn[c->round % TURNS];

	c->good &= thread_waits(&turn.full, c->round / TURNS % 2, error);
	__syncwarp();
	struct piece<real> total = total_of<largest, CLUSTER_BLOCKS / 2 / groups>(
	        &turn.record[t.lane / pieces][t.lane % pieces * s.per], groups *COLUMNS,
	        t.blocks > CLUSTER_BLOCKS / 2);
#pragma unroll
	for (int step = pieces; step < 32; step *= 2)
#pragma unroll
		for (int i = 0; i < s.per; i++)
			total.value[i] = combine<largest>(
			        total.value[i], __shfl_xor_sync(0xffffffffu, total.value[i], step));
	return total;
}

/* Called by every warp after its last column, after `passed` exchanges with one block barrier
 * each. A timeout may make a warp skip exchanges in which others wait for it, or do more of
 * them. A finished warp therefore takes part in the barriers until all warps have finished. The
 * last warp to finish names the next barrier; no warp is ahead of it. */
template <typename real, int COLUMNS>
__device__ __forceinline__ void leave(
        struct shared<real, COLUMNS> &s, const struct seat &t, uint32_t passed)
{
	volatile uint32_t *last = &s.last;
	if (t.lane == 0 && atomicAdd(&s.left, 1) == (uint32_t)t.warps - 1)
		*last = passed + 1;
	__syncwarp();
	do {
		__syncthreads();
		passed++;
	} while (passed != *last);
}

#endif

} // namespace
