/* SPDX-License-Identifier: MIT */
/* P = V^T C in double precision, with few columns and many rows of V and C. A block sums one tile
 * of P over every teams-th slab of DEPTH rows. Slabs pass through a ring in shared memory, where
 * rows run down the columns as in memory. Neighbouring blocks read neighbouring rows at the same
 * time, so that few pages of memory are in use. All blocks go from the last rows to the first: the
 * panel before left the last rows in L2, and the update behind goes the other way. With several
 * teams a second kernel adds up their sums, always in the same order.
 *
 * Cost: 2 m k n operations; V once for each `width` columns of C, C once for each `side` columns of
 * V, of which all but one come from L2; and teams k n sums written and read. */
#include "double_tall.h"

#include "double_tall_slab.cuh"
#include "double_tall_sum.cuh"
#include "gemm_mma.cuh"
#include "lib/device/current.h"

namespace
{

const int DEPTH = DOUBLE_TALL_SLAB;

/* SIDE columns of V by WIDTH of C. A warp has WARP_SIDE x WARP_WIDTH of them. Where that leaves
 * warps, they share the rows of a slab. */
template <int SIDE_, int WIDTH_, int WARP_SIDE, int WARP_WIDTH, int STAGES_> struct tall_shape {
	static const int SIDE = SIDE_, WIDTH = WIDTH_, STAGES = STAGES_;
	static const int DOWN = SIDE / WARP_SIDE,
	                 SLICES = TALL_WARPS / (DOWN * (WIDTH / WARP_WIDTH));
	static const int ROWS = WARP_SIDE / 16, COLUMNS = WARP_WIDTH / 8; /* products of a warp */
	static const int OWN = DEPTH / SLICES, PARTS = OWN / 4; /* rows of a slab, fours */
	static const int SLAB = (SIDE + WIDTH) * DEPTH;
	static const int BYTES = STAGES * SLAB * (int)sizeof(double);
	static_assert(PARTS >= 2 && PARTS % 2 == 0, "two sets of registers");
	static_assert((SLICES - 1) * SIDE * WIDTH <= STAGES * SLAB, "sums fit in the ring");
};

struct tall_args {
	struct tall_operand v, c;
	double *p;                  /* P, or the first team's sums */
	int64_t ldp, team_distance; /* between two teams' sums */
	int groups, tiles, teams;
};

/* A warp's registers: operands of these four rows and of the next, and sums. */
template <class S> struct tall_registers {
	double a[2][S::ROWS][2], b[2][S::COLUMNS][1], sum[S::ROWS][S::COLUMNS][4];

	/* Four rows; v and c are the lane's elements in its first columns. */
	DEVICE void load(int set, const double *v, const double *c)
	{
#pragma unroll
		for (int i = 0; i < 2 * S::ROWS; i++)
			a[set][i / 2][i % 2] = v[8 * i * DEPTH];
#pragma unroll
		for (int j = 0; j < S::COLUMNS; j++)
			b[set][j][0] = c[8 * j * DEPTH];
	}

	DEVICE void multiply(int set)
	{
#pragma unroll
		for (int j = 0; j < S::COLUMNS; j++)
#pragma unroll
			for (int i = 0; i < S::ROWS; i++)
				mma_double(sum[i][j], a[set][i], b[set][j]);
	}
};

/* Calls f(i, j, x) for each of a lane's sums x of row i and column j of its warp's part. */
template <class S, typename F> DEVICE void each_sum(tall_registers<S> &r, const F &f)
{
	const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

#pragma unroll
	for (int j = 0; j < S::COLUMNS; j++)
#pragma unroll
		for (int i = 0; i < S::ROWS; i++)
#pragma unroll
			for (int e = 0; e < 4; e++)
				f(16 * i + e / 2 * 8 + g, 8 * j + 2 * t + e % 2, r.sum[i][j][e]);
}

/* Adds the sums of all slices to those of the first, in order. */
template <class S> DEVICE void add_slices(tall_registers<S> &r, double *memory, int slice, int warp)
{
	const int PART = 32 * (TALL_WARPS / S::SLICES); /* threads of a slice */
	double *mine = memory + warp * 32 + threadIdx.x % 32;
	int at = 0;

	copy_wait<0>();
	__syncthreads();
	if (slice > 0)
		each_sum(r, [&](int, int, double x) {
			mine[(slice - 1) * S::SIDE * S::WIDTH + at++ * PART] = x;
		});
	__syncthreads();
	if (slice == 0)
		each_sum(r, [&](int, int, double &x) {
#pragma unroll
			for (int s = 0; s < S::SLICES - 1; s++)
				x += mine[s * S::SIDE * S::WIDTH + at * PART];
			at++;
		});
}

template <class S, bool TURNS>
__global__ void __launch_bounds__(TALL_THREADS, 1)
        tall_kernel(const __grid_constant__ struct tall_args g)
{
	extern __shared__ __align__(16) unsigned char dynamic[];
	double *memory = (double *)dynamic;
	const int team = (int)blockIdx.x / g.tiles, tile = (int)blockIdx.x % g.tiles;
	const int group = tile % g.groups, across = tile / g.groups;
	const int lane = threadIdx.x % 32, all = threadIdx.x / 32;
	const int slice = all * S::SLICES / TALL_WARPS, warp = all % (TALL_WARPS / S::SLICES);
	const int row = warp % S::DOWN * 16 * S::ROWS, column = warp / S::DOWN * 8 * S::COLUMNS;
	const struct tall_operand v = columns_from(g.v, group * S::SIDE, S::SIDE);
	const struct tall_operand c = columns_from(g.c, across * S::WIDTH, S::WIDTH);
	/* the lane's places of its first of four rows, and of its first columns in a slab; how its
	 * columns are turned */
	const int turn = slab_turn(lane / 4), own = slice * S::OWN;
	const int place_v = lane % 4 + v.shift<TURNS>(lane / 4);
	const int place_c = lane % 4 + c.shift<TURNS>(lane / 4);
	const int own_v = own + place_v / 4 * 4, own_c = own + place_c / 4 * 4;
	const int at_v = (row + lane / 4) * DEPTH + place_v % 4;
	const int at_c = (S::SIDE + column + lane / 4) * DEPTH + place_c % 4;
	const int64_t slabs = (g.v.rows + DEPTH - 1) / DEPTH;
	const int count = (int)((slabs - team + g.teams - 1) / g.teams);
	const int64_t start = (slabs - 1 - team) * DEPTH, stride = -(int64_t)g.teams * DEPTH;
	slab_copies<S::SIDE, DEPTH, TURNS> next_v(v, start, count > 0);
	slab_copies<S::WIDTH, DEPTH, TURNS> next_c(c, start, count > 0);
	slab_ring<S::STAGES> ring = {0, S::STAGES - 1};
	tall_registers<S> r;

	each_sum(r, [](int, int, double &x) { x = 0; });
	for (int i = 0; i < S::STAGES - 1; i++) {
		double *to = memory + i * S::SLAB;
		next_v.template start<1>(to, 0);
		next_c.template start<1>(to + S::SIDE * DEPTH, 0);
		next_v.advance(stride, i + 1 < count);
		next_c.advance(stride, i + 1 < count);
		copy_commit();
	}
	copy_wait<S::STAGES - 2>();
	__syncthreads();
	r.load(0, memory + ((own_v & (DEPTH - 1)) ^ turn) + at_v,
	        memory + ((own_c & (DEPTH - 1)) ^ turn) + at_c);
	/* copies are spread over all parts but the last, in which the next slab becomes ready */
	for (int s = 0; s < count; s++) {
		double *to = memory + ring.free * S::SLAB;
#pragma unroll
		for (int x = 0; x < S::PARTS; x++) {
			if (x == S::PARTS - 1) {
				copy_commit();
				ring.wait();
			}
			const double *from = memory + ring.now * S::SLAB;
			const int next = (x + 1) % S::PARTS * 4;
			r.load((x + 1) % 2, from + (((own_v + next) & (DEPTH - 1)) ^ turn) + at_v,
			        from + (((own_c + next) & (DEPTH - 1)) ^ turn) + at_c);
			if (x < S::PARTS - 1) {
				next_v.template start<S::PARTS - 1>(to, x);
				next_c.template start<S::PARTS - 1>(to + S::SIDE * DEPTH, x);
			}
			r.multiply(x % 2);
		}
		next_v.advance(stride, s + S::STAGES < count);
		next_c.advance(stride, s + S::STAGES < count);
	}
	early_release();
	if (S::SLICES > 1)
		add_slices(r, memory, slice, warp);
	if (slice > 0)
		return;
	double *p = g.p + team * g.team_distance + (group * S::SIDE + row) +
	            (across * S::WIDTH + column) * g.ldp;
	each_sum(r, [&](int i, int j, double x) {
		if (row + i < v.columns && column + j < c.columns)
			p[i + j * g.ldp] = x;
	});
}

template <class S> int launch(const struct tall_args &g, cudaStream_t stream)
{
	const auto kernel = g.v.pairs && g.c.pairs ? tall_kernel<S, false> : tall_kernel<S, true>;
	const int error = kernel_allow_shared((const void *)kernel);

	if (error)
		return error;
	kernel<<<(unsigned)(g.tiles * g.teams), TALL_THREADS, S::BYTES, stream>>>(g);
	return (int)cudaGetLastError();
}

int launch_shape(
        const struct double_tall_plan &plan, const struct tall_args &g, cudaStream_t stream)
{
	if (plan.side <= 64)
		return plan.width <= 32   ? launch<tall_shape<64, 32, 32, 32, 6>>(g, stream)
		       : plan.width <= 64 ? launch<tall_shape<64, 64, 32, 32, 6>>(g, stream)
		                          : launch<tall_shape<64, 128, 32, 32, 4>>(g, stream);
	return plan.width <= 32   ? launch<tall_shape<128, 32, 32, 32, 5>>(g, stream)
	       : plan.width <= 64 ? launch<tall_shape<128, 64, 32, 32, 4>>(g, stream)
	                          : launch<tall_shape<128, 128, 64, 32, 3>>(g, stream);
}

int64_t sums_ld(int64_t k)
{
	return (k + 3) / 4 * 4;
}

} // namespace

extern "C" int double_tall(const struct double_tall_plan *plan, struct matrix v, struct matrix c,
        struct matrix p, void *scratch, void *stream)
{
	const bool several = plan->teams > 1;
	const int64_t ld = several ? sums_ld(p.m) : p.ld;
	const struct tall_args g = {tall_operand_of(v), tall_operand_of(c),
	        several ? (double *)scratch : (double *)matrix_address(p), ld, ld * p.n,
	        plan->groups, plan->groups * plan->across, plan->teams};

	if (p.m == 0 || p.n == 0)
		return (int)cudaSuccess;
	const int error = launch_shape(*plan, g, (cudaStream_t)stream);
	if (error || !several)
		return error;
	const int tiles = (int)((p.m + SUM_ROWS - 1) / SUM_ROWS);
	const struct team_sums sums = {g.p, ld, g.team_distance, plan->teams, (int)p.m, tiles,
	        (double *)matrix_address(p), p.ld};
	return (int)early_launch(
	        team_sum_kernel, tiles * p.n, SUM_ROWS * SUM_SHARES, 0, sums, stream);
}
