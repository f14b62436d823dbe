/* SPDX-License-Identifier: MIT */
/* How tf32_tall.cu's blocks share the work: every block has as many stages of rows as the others,
 * the end of one tile and the beginning of another; and how those that share a tile add up. */
#ifndef FATHOM_TF32_TALL_PIECES_CUH
#define FATHOM_TF32_TALL_PIECES_CUH

#include "base.h"
#include "tf32_tall.h"
#include "warpgroup_products.cuh"

namespace
{

enum {
	GROUPS = 2,             /* warpgroups that multiply */
	WORKING = 128 * GROUPS, /* threads */
	OWN = 64,               /* columns of V that a warpgroup takes at once */
	DEPTH = SLAB_BYTES / 4  /* rows in a stage */
};

static_assert(TF32_TALL_SIDE == OWN * GROUPS && TF32_TALL_ACROSS == WIDE,
        "as the units take them at once");

/* SIDE columns of V, of which each warpgroup has its own, or both the same and half of C's ACROSS
 * each. */
template <int SIDE, int ACROSS> struct tile {
	static const int V_PARTS = SIDE / OWN, C_PARTS = GROUPS / V_PARTS;
	static const int WIDTH = ACROSS / C_PARTS; /* columns of C of a warpgroup */
	static const int SUMS = WIDTH / 2;         /* of a thread */
};

struct product {
	float *p;
	int64_t ldp;
	int64_t n;
	int k, groups;      /* columns of V, and tiles of them */
	int across, teams;  /* tiles of C's columns, and who share their rows */
	int stages;         /* of a tile */
	float *sums;        /* [team][group][of a tile's first rows][SUMS / 4][WORKING][4] */
	unsigned *counters; /* a tile each, zero between kernels */
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/* Of a block's work. */
struct piece {
	int group, across;
	int first_team, teams; /* that have the tile's rows */
	int first, stages;     /* of the tile, that it has */
};

/* Where a team's share of all stages begins, and who has a stage. */
__device__ __forceinline__ int64_t share(const struct product &g, int team)
{
	return (int64_t)g.across * g.stages * team / g.teams;
}

__device__ __forceinline__ int team_of(const struct product &g, int64_t stage)
{
	const int64_t all = (int64_t)g.across * g.stages;
	return (int)(((stage + 1) * g.teams + all - 1) / all) - 1;
}

/* From a stage of all on, as far as the tile and the team's share go. */
__device__ __forceinline__ struct piece piece_of(
        const struct product &g, int group, int64_t at, int64_t end)
{
	struct piece x;
	x.group = group;
	x.across = (int)(at / g.stages);
	x.first = (int)(at % g.stages);
	x.stages = (int)min((int64_t)g.stages - x.first, end - at);
	x.first_team = team_of(g, (int64_t)x.across * g.stages);
	x.teams = team_of(g, (int64_t)(x.across + 1) * g.stages - 1) - x.first_team + 1;
	return x;
}

/* Calls f(piece, team) for each piece of the block's. */
template <typename F>
__device__ __forceinline__ void each_piece(const struct product &g, const F &f)
{
	const int team = (int)blockIdx.x / g.groups, group = (int)blockIdx.x % g.groups;
	const int64_t end = share(g, team + 1);
	for (int64_t at = share(g, team); at < end;) {
		const struct piece x = piece_of(g, group, at, end);
		f(x, team);
		at += x.stages;
	}
}

/* Of the warpgroups that multiply. */
__device__ __forceinline__ void working_barrier(void)
{
	const int threads = WORKING;
	asm volatile("bar.sync 1, %0;" ::"n"(threads) : "memory");
}

template <int SIDE, int ACROSS>
__device__ __forceinline__ void store_tile(const struct product &g, const struct piece &x,
        const float (&sum)[tile<SIDE, ACROSS>::SUMS])
{
	typedef tile<SIDE, ACROSS> t;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32 % 4;
	const int at = (int)threadIdx.x / 128;
	const int row = x.group * SIDE + at % t::V_PARTS * OWN + 16 * warp + lane / 4;
	const int64_t column =
	        (int64_t)x.across * ACROSS + at / t::V_PARTS * t::WIDTH + 2 * (lane % 4);

#pragma unroll
	for (int i = 0; i < t::SUMS; i++) {
		const int down = row + i / 2 % 2 * 8;
		const int64_t right = column + i / 4 * 8 + i % 2;
		if (down < g.k && right < g.n)
			g.p[down + right * g.ldp] = sum[i];
	}
}

/* What a team of those that share the tile keeps of it: only the first one has its first rows. */
__device__ __forceinline__ float4 *kept_sums(
        const struct product &g, const struct piece &x, int nth, int quads)
{
	const int64_t slot = ((int64_t)(x.first_team + nth) * g.groups + x.group) * 2 + (nth == 0);
	return (float4 *)g.sums + slot * quads * WORKING + threadIdx.x;
}

/* The piece's sums to memory; true, with those of all teams in their order, in the block that is
 * the last one. */
template <int SUMS>
__device__ __forceinline__ bool join_teams(
        const struct product &g, bool *last, const struct piece &x, int team, float (&sum)[SUMS])
{
	float4 *mine = kept_sums(g, x, team - x.first_team, SUMS / 4);

#pragma unroll
	for (int i = 0; i < SUMS; i += 4)
		mine[i / 4 * WORKING] = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
	__threadfence();
	working_barrier();
	if (threadIdx.x == 0) {
		unsigned *counter = &g.counters[x.across * g.groups + x.group];
		*last = atomicAdd(counter, 1u) == (unsigned)x.teams - 1;
		if (*last)
			*counter = 0;
	}
	working_barrier();
	const bool mine_is_last = *last;
	working_barrier(); /* before the next piece's */
	if (!mine_is_last)
		return false;
	__threadfence();
#pragma unroll
	for (int i = 0; i < SUMS; i++)
		sum[i] = 0;
	for (int nth = 0; nth < x.teams; nth++) {
		const float4 *theirs = kept_sums(g, x, nth, SUMS / 4);
#pragma unroll
		for (int i = 0; i < SUMS; i += 4) {
			const float4 more = __ldcg(&theirs[i / 4 * WORKING]);
			sum[i] += more.x;
			sum[i + 1] += more.y;
			sum[i + 2] += more.z;
			sum[i + 3] += more.w;
		}
	}
	return true;
}

#endif

} // namespace

#endif
