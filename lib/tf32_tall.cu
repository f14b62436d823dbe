/* SPDX-License-Identifier: MIT */
/* V^T C of few columns V and C of many rows in 3xTF32 (lib/tf32.h), with the operands split on
 * their way: what QR's updates begin with. As a product of stacks it would write and read three
 * times C for a few rows of the result, and cuBLAS makes it by fp32's multiply-adds.
 *
 * A block makes SIDE x ACROSS of the result from a part of the rows. Both operands lie with the
 * rows down their columns, as mma wants them. Of V's tile the block keeps high and low in shared
 * memory, C's is split by the warps that multiply it. Of 16 rows the corrections are summed before
 * the high parts' products, and then added to a sum that fp32's additions round: the units cut off
 * the last bits of what they add to. Where several blocks share a tile, the one that is ready last
 * adds up the others' parts, in their order. Every block has as many rows of tiles as the others,
 * the end of one tile and the beginning of another, so that any number of multiprocessors may do
 * it, those that a panel leaves, too; blocks that need the same rows of C take them at the same
 * time.
 *
 * Log (H200): 65 Tflop/s predicted from 303 of the units, 55.8 measured whatever the shape, as all
 * warps of a multiprocessor brought their next operands at the same time; with half of them behind
 * the others 65 (64 columns beside 4096 x 4096: 47 us, cuBLAS 61; 256 beside 16384 x 16384 2.11 ms
 * and 2.72). Errors are half of cuBLAS's in fp32. QR of n = 4096 with it 5.4 ms. Whole parts of
 * tiles instead of equal shares left multiprocessors without work, the more so on the 116 that a
 * panel leaves: 128 columns beside 8064 x 7808 357 us, now 304; QR of 16384 in blocks of 256 with
 * it, and no update beside panels, 111 ms; with that, and this in fp32, 117 to 120 (all with a
 * record of every operation). Without record 112 in fp32 above 8192 rows; with this there, 32, 16,
 * 8 and no multiprocessors left to the panels: 115, 106, 105, 103.
 *
 * Cost: 6 m k n operations on the tensor cores, C once for each 64 columns of V, V once for each
 * 256 of C. */
#include "base.h"
#include "gemm_copy.cuh"
#include "tf32.h"
#include "tf32_tall.h"

namespace
{

enum {
	WARPS = 8,
	THREADS = 32 * WARPS,
	SIDE = TF32_TALL_SIDE, /* columns of V */
	ACROSS = TF32_TALL_ACROSS,
	WARP_ACROSS = ACROSS / WARPS,
	DEPTH = 32, /* rows in a stage */
	PITCH = DEPTH + 8,
	STAGES = 3,
	TILES_DOWN = SIDE / 16,
	TILES_ACROSS = WARP_ACROSS / 8,
	SUMS = TILES_DOWN * TILES_ACROSS * 4, /* of a thread */
	PIECES = DEPTH / 4                    /* of 16 bytes */
};

struct product {
	const float *v, *c;
	float *p;
	int64_t ldv, ldc, ldp;
	int64_t rows, n;
	int k, groups;     /* columns of V, and tiles of them */
	int across, teams; /* tiles of C's columns, and who share their rows */
	int stages;        /* of a tile */
	float *sums; /* [team][group][of a tile's first rows][SUMS / 4][THREADS] of 16 bytes */
	unsigned *counters; /* a tile each, zero between kernels */
};

/* Of V: what a lane takes of 16 columns and 8 rows lies together, in the order of its registers. */
typedef float4 fragments[DEPTH / 8][TILES_DOWN * 32 + 1];

struct memory {
	float c[STAGES][ACROSS][PITCH];
	fragments high[STAGES], low[STAGES];
	bool last;
};

static_assert(sizeof(struct memory) == TF32_TALL_SHARED, "as the launcher's callers know it");

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

typedef float sums[TILES_DOWN][TILES_ACROSS][4];

/* Of a block's work. */
struct piece {
	int group, across;
	int first_team, teams; /* that have the tile's rows */
	int stages;            /* of the tile, that it has */
	int first_v;           /* column of V */
	int64_t first_c;       /* and of C */
	int64_t first, end;    /* rows */
};

/* What a thread brings: 16 bytes of each of some columns of C in shared memory, and of two columns
 * of V, eight apart, in registers first. */
struct load {
	const float *c, *v;     /* of the piece's first row */
	int64_t c_step, v_step; /* from column to column */
	unsigned columns;       /* a bit for each that there is, of C and then of V */
	float4 of[2];
};

enum { LOADS = ACROSS * PIECES / THREADS };

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
	const int stage = (int)(at % g.stages);
	x.stages = (int)min((int64_t)g.stages - stage, end - at);
	x.first_team = team_of(g, (int64_t)x.across * g.stages);
	x.teams = team_of(g, (int64_t)(x.across + 1) * g.stages - 1) - x.first_team + 1;
	x.first_v = group * SIDE;
	x.first_c = (int64_t)x.across * ACROSS;
	x.first = (int64_t)stage * DEPTH;
	x.end = min(g.rows, x.first + (int64_t)x.stages * DEPTH);
	return x;
}

__device__ __forceinline__ struct load load_of(const struct product &g, const struct piece &x)
{
	const int row = 4 * ((int)threadIdx.x % PIECES), at = (int)threadIdx.x / PIECES;
	const int64_t column = x.first_c + at, left = x.first_v + at / 8 * 16 + at % 8;
	struct load t = {g.c + x.first + row + column * g.ldc, g.v + x.first + row + left * g.ldv,
	        THREADS / PIECES * g.ldc, 8 * g.ldv, 0, {}};
#pragma unroll
	for (int i = 0; i < LOADS; i++)
		t.columns |= column + i * (THREADS / PIECES) < g.n ? 1u << i : 0;
#pragma unroll
	for (int i = 0; i < 2; i++)
		t.columns |= left + 8 * i < g.k ? 1u << (LOADS + i) : 0;
	return t;
}

/* The next rows, `left` of them or more than enough, zeros where there are none. */
__device__ __forceinline__ void fetch_c(struct load &t, struct memory &s, int64_t left, int stage)
{
	const int piece = (int)threadIdx.x % PIECES;
	const int64_t bytes = 4 * (left - 4 * piece);
	const int valid = (int)max((int64_t)0, min((int64_t)16, bytes));
	float *to = &s.c[stage][(int)threadIdx.x / PIECES][4 * piece];

#pragma unroll
	for (int i = 0; i < LOADS; i++)
		copy_start<16>(to + i * (THREADS / PIECES) * PITCH, t.c + i * t.c_step,
		        t.columns >> i & 1 ? valid : 0);
	copy_commit();
	t.c += DEPTH;
}

__device__ __forceinline__ void fetch_v(struct load &t, int64_t left)
{
	const int64_t rows = left - 4 * ((int)threadIdx.x % PIECES);

#pragma unroll
	for (int i = 0; i < 2; i++) {
		const float *from = t.v + i * t.v_step;
		const bool there = t.columns >> (LOADS + i) & 1;
		t.of[i] = make_float4(0, 0, 0, 0);
		if (left >= DEPTH) { /* the same for all threads */
			if (there)
				t.of[i] = *(const float4 *)from;
			continue;
		}
		t.of[i].x = there && rows > 0 ? from[0] : 0;
		t.of[i].y = there && rows > 1 ? from[1] : 0;
		t.of[i].z = there && rows > 2 ? from[2] : 0;
		t.of[i].w = there && rows > 3 ? from[3] : 0;
	}
	t.v += DEPTH;
}

/* As tf32_round and tf32_low, but that the units cut off low's last bits and that a number next to
 * the largest becomes infinite. */
__device__ __forceinline__ void divide(float x, float &high, float &low)
{
	high = __uint_as_float((__float_as_uint(x) + 0x1000) & ~0x1fffu);
	low = __uint_as_float(__float_as_uint(x - high) + 0x1000);
}

/* Of eight rows those that a lane takes are beside each other. */
__device__ __forceinline__ void store_v(struct memory &s, int stage, const struct load &t)
{
	const int piece = (int)threadIdx.x % PIECES, pair = (int)threadIdx.x / PIECES;
	const int lane = pair / 8 * 32 + pair % 8 * 4 + piece % 2 * 2;
	const float4 a = t.of[0], b = t.of[1];
	float4 high, low;

	divide(a.x, high.x, low.x);
	divide(b.x, high.y, low.y);
	divide(a.y, high.z, low.z);
	divide(b.y, high.w, low.w);
	s.high[stage][piece / 2][lane] = high;
	s.low[stage][piece / 2][lane] = low;
	divide(a.z, high.x, low.x);
	divide(b.z, high.y, low.y);
	divide(a.w, high.z, low.z);
	divide(b.w, high.w, low.w);
	s.high[stage][piece / 2][lane + 1] = high;
	s.low[stage][piece / 2][lane + 1] = low;
}

__device__ __forceinline__ void multiply(
        float (&d)[4], const float4 &a, const float2 &b, bool fresh)
{
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
	    "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
	        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
	        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)),
	        "r"(__float_as_uint(a.w)), "r"(__float_as_uint(b.x)), "r"(__float_as_uint(b.y)),
	        "f"(fresh ? 0.0f : d[0]), "f"(fresh ? 0.0f : d[1]), "f"(fresh ? 0.0f : d[2]),
	        "f"(fresh ? 0.0f : d[3]));
}

/* 16 rows of a stage: of eight of them a lane's two are beside each other, in both operands. */
__device__ __forceinline__ void add_rows(const struct memory &s, int stage, int row, sums &sum)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int g = lane / 4, at = row + 2 * (lane % 4);
	float2 high[2][TILES_ACROSS], low[2][TILES_ACROSS];

#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int j = 0; j < TILES_ACROSS; j++) {
			const float2 c =
			        *(const float2 *)&s
			                 .c[stage][warp * WARP_ACROSS + 8 * j + g][at + 8 * h];
			divide(c.x, high[h][j].x, low[h][j].x);
			divide(c.y, high[h][j].y, low[h][j].y);
		}
#pragma unroll
	for (int i = 0; i < TILES_DOWN; i++) {
		float4 left[2], small[2];
		float part[TILES_ACROSS][4];
#pragma unroll
		for (int h = 0; h < 2; h++) {
			left[h] = s.high[stage][row / 8 + h][i * 32 + lane];
			small[h] = s.low[stage][row / 8 + h][i * 32 + lane];
		}
#pragma unroll
		for (int h = 0; h < 2; h++) {
#pragma unroll
			for (int j = 0; j < TILES_ACROSS; j++)
				multiply(part[j], small[h], high[h][j], h == 0);
#pragma unroll
			for (int j = 0; j < TILES_ACROSS; j++)
				multiply(part[j], left[h], low[h][j], false);
		}
#pragma unroll
		for (int h = 0; h < 2; h++)
#pragma unroll
			for (int j = 0; j < TILES_ACROSS; j++)
				multiply(part[j], left[h], high[h][j], false);
#pragma unroll
		for (int j = 0; j < TILES_ACROSS; j++)
#pragma unroll
			for (int e = 0; e < 4; e++)
				sum[i][j][e] += part[j][e];
	}
}

/* V^T C of the piece's rows. Half of the warps bring the next ones while the others multiply. */
__device__ __forceinline__ void add_stages(
        const struct product &g, struct memory &s, const struct piece &x, sums &sum)
{
	const int late = (int)threadIdx.x >= THREADS / 2;
	struct load t = load_of(g, x);
	int64_t left = x.end - x.first;
	int stage = 0;

	__syncthreads(); /* all are done with the piece before */
#pragma unroll
	for (int i = 0; i < STAGES - 1; i++)
		fetch_c(t, s, left - i * DEPTH, i);
	fetch_v(t, left);
	store_v(s, 0, t);
	fetch_v(t, left - DEPTH);
	for (; left > 0; left -= DEPTH) {
		const int after = stage + 1 == STAGES ? 0 : stage + 1;
		copy_wait<STAGES - 2>();
		__syncthreads();
#pragma unroll 1
		for (int turn = 0; turn < 2; turn++) {
			if (turn == late) {
				fetch_c(t, s, left - (STAGES - 1) * DEPTH,
				        after + 1 == STAGES ? 0 : after + 1);
				store_v(s, after, t);
				fetch_v(t, left - 2 * DEPTH);
			}
			add_rows(s, stage, 16 * turn, sum);
		}
		stage = after;
	}
}

__device__ __forceinline__ void store_tile(
        const struct product &g, const struct piece &x, const sums &sum)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;

#pragma unroll
	for (int i = 0; i < TILES_DOWN; i++)
#pragma unroll
		for (int j = 0; j < TILES_ACROSS; j++)
#pragma unroll
			for (int e = 0; e < 4; e++) {
				const int row = x.first_v + 16 * i + 8 * (e / 2) + lane / 4;
				const int64_t column = x.first_c + warp * WARP_ACROSS + 8 * j +
				                       2 * (lane % 4) + e % 2;
				if (row < g.k && column < g.n)
					g.p[row + column * g.ldp] = sum[i][j][e];
			}
}

/* What a team of those that share the tile keeps of it: only the first one has its first rows. */
__device__ __forceinline__ float4 *kept_sums(
        const struct product &g, const struct piece &x, int nth)
{
	const int64_t slot = ((int64_t)(x.first_team + nth) * g.groups + x.group) * 2 + (nth == 0);
	return (float4 *)g.sums + slot * (SUMS / 4) * THREADS + threadIdx.x;
}

/* The piece's sums to memory; true, with those of all teams, in the block that is the last one. */
__device__ __forceinline__ bool join_teams(
        const struct product &g, struct memory &s, const struct piece &x, int team, sums &sum)
{
	float4 *mine = kept_sums(g, x, team - x.first_team);

#pragma unroll
	for (int i = 0; i < SUMS / 4; i++) {
		const float(&f)[4] = sum[i / TILES_ACROSS][i % TILES_ACROSS];
		mine[i * THREADS] = make_float4(f[0], f[1], f[2], f[3]);
	}
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned *counter = &g.counters[x.across * g.groups + x.group];
		s.last = atomicAdd(counter, 1u) == (unsigned)x.teams - 1;
		if (s.last)
			*counter = 0;
	}
	__syncthreads();
	if (!s.last)
		return false;
	__threadfence();
#pragma unroll
	for (int i = 0; i < SUMS / 4; i++) {
		float(&f)[4] = sum[i / TILES_ACROSS][i % TILES_ACROSS];
		f[0] = f[1] = f[2] = f[3] = 0;
	}
	for (int nth = 0; nth < x.teams; nth++) {
		const float4 *theirs = kept_sums(g, x, nth);
#pragma unroll
		for (int i = 0; i < SUMS / 4; i++) {
			float(&f)[4] = sum[i / TILES_ACROSS][i % TILES_ACROSS];
			const float4 more = __ldcg(&theirs[i * THREADS]);
			f[0] += more.x;
			f[1] += more.y;
			f[2] += more.z;
			f[3] += more.w;
		}
	}
	return true;
}

#endif

__global__ void __launch_bounds__(THREADS, 1) tall_kernel(const struct product g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
	extern __shared__ __align__(16) unsigned char bytes[];
	struct memory &s = *(struct memory *)bytes;

	const int team = (int)blockIdx.x / g.groups, group = (int)blockIdx.x % g.groups;
	const int64_t end = share(g, team + 1);
	for (int64_t at = share(g, team); at < end;) {
		const struct piece x = piece_of(g, group, at, end);
		sums sum = {};
		add_stages(g, s, x, sum);
		if (x.teams == 1 || join_teams(g, s, x, team, sum))
			store_tile(g, x, sum);
		at += x.stages;
	}
#endif
}

} // namespace

extern "C" int tf32_tall(const struct tf32_tall_plan *plan, struct matrix v, struct matrix c,
        struct matrix p, void *counters, void *scratch, void *stream)
{
	const struct product g = {(const float *)matrix_address(v),
	        (const float *)matrix_address(c), (float *)matrix_address(p), v.ld, c.ld, p.ld, c.m,
	        c.n, (int)v.n, plan->groups, plan->across, plan->teams,
	        (int)((c.m + DEPTH - 1) / DEPTH), (float *)scratch, (unsigned *)counters};
	if (c.n == 0 || v.n == 0)
		return (int)cudaSuccess;
	cudaError_t error = cudaFuncSetAttribute((const void *)tall_kernel,
	        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(struct memory));
	if (error != cudaSuccess)
		return (int)error;
	tall_kernel<<<plan->teams * plan->groups, THREADS, sizeof(struct memory),
	        (cudaStream_t)stream>>>(g);
	return (int)cudaGetLastError();
}
