/* SPDX-License-Identifier: MIT */
/* Sums over the blocks of one cluster for its Householder panel (factor/kernels/qr/panel_geqrf_cluster.cu): who
 * holds what, what a block has in shared memory, and the exchange. */
#ifndef FATHOM_PANEL_GEQRF_CLUSTER_CUH
#define FATHOM_PANEL_GEQRF_CLUSTER_CUH

#include "lib/base/base.h"
#include "factor/kernels/lu/panel_sums.cuh"

namespace
{

enum {
	CLUSTER_BLOCKS = 16,
	CLUSTER_WARPS = 8, /* of a block, at most */
	FEWEST_WARPS = 32, /* of the cluster */
	WORDS = 16,        /* columns of a lane */
	TURNS = 2 /* a block sends for column j + 2 when it has had all sums of column j + 1, which
	             a block sends when all its warps are done with those of column j */
};

/* Columns in the order of the lanes that hold them: [lane rank][register]. Where there is no such
 * warp or block are zeros. */
template <typename real, int COLUMNS> struct alignas(16) shared {
	static constexpr int per = 16 / (int)sizeof(real); /* columns of a piece */
	struct {
		real part[CLUSTER_WARPS][COLUMNS];        /* of the warps */
		real own_head[COLUMNS];                   /* row j where it is held */
		real record[CLUSTER_BLOCKS + 1][COLUMNS]; /* from the blocks; row j */
		alignas(16) uint64_t full;                /* mbarrier: all records are there */
	} turn[TURNS];
	/* for each warp: what multiplies v in the update; tau V^T v of the columns before */
	real times[CLUSTER_WARPS][COLUMNS], known[CLUSTER_WARPS][COLUMNS];
	uint32_t left, last; /* warps without columns to do; the block's last barrier, once known */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Who a thread is: in the warp number `at` along the rows and `rank` along the columns. */
struct seat {
	int thread, lane, warp, threads, warps, block, blocks;
	int at, rank;
	int row;      /* first of the thread */
	int warp_row; /* of the warp */
	int rows;     /* of a block */
};

/* The column that is being eliminated. */
struct column {
	int j, rank;    /* of the lanes that hold it */
	int transposed;     /* registers have, so many times */
	int owner;      /* block that holds row j */
	uint32_t round; /* exchange */
	bool good;      /* the thread has seen all that it waited for */
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

/* Row r of the thread. */
template <int LANES> __device__ __forceinline__ int row_at(const struct seat &t, int r)
{
	return t.row + r * (32 / LANES);
}

/* The first of the rows of T that the warp makes. */
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

/* Sum of the pieces of HALF records or, if `all`, of twice as many. */
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

/* The warps' results of the block, and row j from where it is held, to all blocks. A thread that
 * has given up waiting goes on, since leaving would take a vote in every column, but announces and
 * sends nothing more: to announce bytes before those of the last time are there is a fault. */
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

/* Waits for what the blocks send, not at all when somebody has given up, which is noted in c->good;
 * combines it, in every warp. A lane gets piece number lane % pieces. */
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

/* By every warp after its last column, behind `passed` exchanges, each of which has one barrier of
 * the block. What a warp sees that has given up waiting may make it skip exchanges in which the
 * others wait for it, or ask for more: whoever is here takes part in the barriers until all warps
 * are. The last to come names the next barrier; none is ahead of it. */
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

#endif
