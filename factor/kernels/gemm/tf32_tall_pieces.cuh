/* SPDX-License-Identifier: MIT */
/* The division of work in tf32_tall.cu: every block has the same number of stages of rows, the end
 * of one tile and the start of another; and the sum over the blocks that share a tile. */
#pragma once

#include "lib/base/base.h"
#include "tf32_tall.h"
#include "warpgroup_products.cuh"

namespace
{

enum {
	GROUPS = 2,             /* warpgroups that multiply */
	WORKING = 128 * GROUPS, /* threads */
	OWN = 64,               /* columns of V per warpgroup at once */
	DEPTH = SLAB_BYTES / 4  /* rows in a stage */
};

static_assert(TF32_TALL_SIDE == OWN * GROUPS && TF32_TALL_ACROSS == WIDE,
        "as the units take them at once");

/* SIDE columns of V: each warpgroup has its own, or both have the same and each half of C's
 * ACROSS. */
template <int SIDE, int ACROSS> struct tile {
	static const int V_PARTS = SIDE / OWN, C_PARTS = GROUPS / V_PARTS;
	static const int WIDTH = ACROSS / C_PARTS; /* columns of C per warpgroup */
	static const int SUMS = WIDTH / 2;         /* per thread */
};

struct product {
	float *p;
	int64_t ldp;
	int64_t n;
	int k, groups;           /* columns of V, and tiles along them */
	int across, pinned_sets; /* tiles along C's columns, and teams that share the rows */
	int stages;              /* per tile */
	float *sums;             /* [team][group][tile's first rows][SUMS / 4][WORKING][4] */
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct piece {
	int group, across;
	int first_pinned, pinned_sets; /* teams that have the tile's rows */
	int first, stages;             /* its stages of the tile */
};

/* First stage of a team's share, and the team that has a stage. */
DEVICE int64_t share(const struct product &g, int pinned)
{
	return (int64_t)g.across * g.stages * pinned / g.pinned_sets;
}

DEVICE int pinned_of(const struct product &g, int64_t stage)
{
	const int64_t all = (int64_t)g.across * g.stages;
	return (int)(((stage + 1) * g.pinned_sets + all - 1) / all) - 1;
}

DEVICE struct piece whole_tile(const struct product &g, int group, int across)
{
	const int first = pinned_of(g, (int64_t)across * g.stages);
	const int last = pinned_of(g, (int64_t)(across + 1) * g.stages - 1);

	return {group, across, first, last - first + 1, 0, g.stages};
}

/* From a global stage on, to the end of the tile or of the team's share. */
DEVICE struct piece piece_of(const struct product &g, int group, int64_t at, int64_t end)
{
	struct piece x = whole_tile(g, group, (int)(at / g.stages));
	x.first = (int)(at % g.stages);
	x.stages = (int)min((int64_t)g.stages - x.first, end - at);
	return x;
}

/* Calls f(piece, team) for each piece of the block. */
template <typename F> DEVICE void each_piece(const struct product &g, const F &f)
{
	const int pinned = (int)blockIdx.x / g.groups, group = (int)blockIdx.x % g.groups;
	const int64_t end = share(g, pinned + 1);
	for (int64_t at = share(g, pinned); at < end;) {
		const struct piece x = piece_of(g, group, at, end);
		f(x, pinned);
		at += x.stages;
	}
}

/* Writes four sums of a thread, two rows by two columns, to their places. */
template <int SIDE, int ACROSS>
DEVICE void store_quad(const struct product &g, const struct piece &x, int nth, float4 sum)
{
	typedef tile<SIDE, ACROSS> t;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32 % 4;
	const int at = (int)threadIdx.x / 128;
	const int row = x.group * SIDE + at % t::V_PARTS * OWN + 16 * warp + lane / 4;
	const int64_t column =
	        (int64_t)x.across * ACROSS + at / t::V_PARTS * t::WIDTH + 2 * (lane % 4) + 8 * nth;
	const float value[] = {sum.x, sum.y, sum.z, sum.w};

#pragma unroll
	for (int i = 0; i < 4; i++) {
		const int down = row + i / 2 * 8;
		const int64_t right = column + i % 2;
		if (down < g.k && right < g.n)
			g.p[down + right * g.ldp] = value[i];
	}
}

/* A thread's stored quads of a tile, WORKING apart, for one of the teams that share the tile. The
 * first team has its first rows. */
DEVICE float4 *kept_quads(const struct product &g, const struct piece &x, int nth, int quads)
{
	const int64_t slot =
	        ((int64_t)(x.first_pinned + nth) * g.groups + x.group) * 2 + (nth == 0);
	return (float4 *)g.sums + slot * quads * WORKING + threadIdx.x;
}

/* Writes a piece's sums to their places, or to memory if other teams share the tile. */
template <int SIDE, int ACROSS>
DEVICE void put_sums(const struct product &g, const struct piece &x, int pinned,
        const float (&sum)[tile<SIDE, ACROSS>::SUMS])
{
	const int QUADS = tile<SIDE, ACROSS>::SUMS / 4;
	float4 *mine = kept_quads(g, x, pinned - x.first_pinned, QUADS);

#pragma unroll
	for (int i = 0; i < QUADS; i++) {
		const float4 quad =
		        make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
		if (x.pinned_sets == 1)
			store_quad<SIDE, ACROSS>(g, x, i, quad);
		else
			mine[i * WORKING] = quad;
	}
}

template <int COUNT> DEVICE float4 sum_of(const float4 (&quad)[COUNT])
{
	float4 sum = quad[0];

#pragma unroll
	for (int i = 1; i < COUNT; i++) {
		sum.x += quad[i].x;
		sum.y += quad[i].y;
		sum.z += quad[i].z;
		sum.w += quad[i].w;
	}
	return sum;
}

/* Adds up one quad per thread of a shared tile, by WORKING threads: a few teams at a time, all
 * loads in flight, with fewer roundings than one running sum. */
template <int SIDE, int ACROSS>
DEVICE void join_quad(const struct product &g, const struct piece &x, int quad)
{
	const int QUADS = tile<SIDE, ACROSS>::SUMS / 4, AT_ONCE = 16;
	float4 sum = make_float4(0, 0, 0, 0);

	for (int first = 0; first < x.pinned_sets; first += AT_ONCE) {
		float4 few[AT_ONCE];
#pragma unroll
		for (int i = 0; i < AT_ONCE; i++)
			few[i] = first + i < x.pinned_sets
			                 ? kept_quads(g, x, first + i, QUADS)[quad * WORKING]
			                 : make_float4(0, 0, 0, 0);
		sum = sum_of({sum, sum_of(few)});
	}
	store_quad<SIDE, ACROSS>(g, x, quad, sum);
}

#endif

} // namespace
