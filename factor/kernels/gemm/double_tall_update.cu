/* SPDX-License-Identifier: MIT */
/* C += alpha V W in double precision, with few columns and many rows of V and C. A block updates
 * its columns of C in every teams-th slab of rows. A warp has 16 columns, and keeps alpha W for
 * them in registers. Slabs of V and C pass through a ring in shared memory; the updated C goes back
 * through it, so that a warp writes whole lines for any alignment.
 *
 * Columns of C are the rows of the tensor cores' result, rows of C its columns.
 *
 * Cost: 2 m k n operations; V once for each `width` columns of C, of which all but one come from
 * L2; C once from and to memory. With C^T C of 64 columns (double_tall_gram.cuh) the operations
 * of 40 further columns of V. */
#include "double_tall.h"

#include "double_tall_gram.cuh"
#include "double_tall_slab.cuh"
#include "gemm_mma.cuh"
#include "lib/device/current.h"

namespace
{

const int DEPTH = DOUBLE_TALL_SLAB;

/* At most K columns of V; WIDTH columns of C. Warps share the rows of a slab if there are more of
 * them than columns need. */
template <int K_, int WIDTH_, int STAGES_> struct update_shape {
	static const int K = K_, WIDTH = WIDTH_, STAGES = STAGES_;
	static const int OWN = DEPTH * WIDTH / (16 * TALL_WARPS); /* rows of a warp */
	static const int BLOCKS = OWN / 8, PARTS = K / 8;
	static const bool TURNS = K + WIDTH < 256; /* the largest has no registers for it */
	static const int SLAB = (K + WIDTH) * DEPTH;
	static const int BYTES = STAGES * SLAB * (int)sizeof(double);
};

struct update_args {
	struct tall_operand v, c;
	const double *w;
	int64_t ldw;
	double alpha;
	int across, teams;
	double *gram;    /* [teams][GRAM_WORDS]: sums of C^T C without */
	int64_t skipped; /* rows, whole slabs */
};

/* A warp's 16 columns from `column` on, its rows from `row` on, and where the lane's elements of V
 * and C lie in a slab, but for the eights of rows. */
template <class S, bool TURNS> struct update_warp {
	int row, column, at_v, turn_v, row_v, at_c, turn_c, row_c;
	double w[S::K / 4][2]; /* alpha W: rows 4 q + t, columns g and g + 8 */
	double b[2][S::BLOCKS][2], sum[S::BLOCKS][4];

	DEVICE update_warp(const struct tall_operand &v, const struct tall_operand &c)
	{
		const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		const int g = lane / 4, t = lane % 4, along = S::WIDTH / 16;

		row = warp / along * S::OWN;
		column = warp % along * 16;
		at_v = t * DEPTH;
		turn_v = slab_turn(t) ^ (TURNS ? 0 : g);
		row_v = row + (TURNS ? g + v.shift<TURNS>(t) : 0);
		at_c = (S::K + column + g) * DEPTH;
		turn_c = slab_turn(g) ^ (TURNS ? 0 : 2 * t);
		row_c = row + (TURNS ? 2 * t + c.shift<TURNS>(column + g) : 0);
	}

	DEVICE void load_w(const struct update_args &g, int first, int columns)
	{
		const int lane = threadIdx.x % 32;

#pragma unroll
		for (int q = 0; q < S::K / 4; q++)
#pragma unroll
			for (int h = 0; h < 2; h++) {
				const int i = 4 * q + lane % 4, j = column + lane / 4 + 8 * h;
				const bool there = i < g.v.columns && j < columns;
				w[q][h] = there ? g.alpha * g.w[i + (first + j) * g.ldw] : 0;
			}
	}

	/* Eight columns of V, x in number, of the warp's rows. */
	DEVICE void load_v(const double *slab, int set, int x)
	{
#pragma unroll
		for (int i = 0; i < S::BLOCKS; i++)
#pragma unroll
			for (int q = 0; q < 2; q++)
				b[set][i][q] = slab[at_v + (8 * x + 4 * q) * DEPTH +
				                    (((row_v + 8 * i) & (TURNS ? DEPTH - 1 : -1)) ^
				                            turn_v)];
	}

	DEVICE void multiply(int set, int x)
	{
#pragma unroll
		for (int q = 0; q < 2; q++)
#pragma unroll
			for (int i = 0; i < S::BLOCKS; i++) {
				const double part[1] = {b[set][i][q]};
				mma_double(sum[i], w[2 * x + q], part);
			}
	}

	/* Calls f(x, y) for the lane's elements of C in a slab and their sums: pairs of rows where
	 * they are side by side, or single ones. */
	template <typename F> DEVICE void each_of_c(double *slab, const F &f)
	{
		int first = row_c;
		if (TURNS) /* else all places are kept in registers */
			asm volatile("" : "+r"(first));
#pragma unroll
		for (int i = 0; i < S::BLOCKS; i++)
#pragma unroll
			for (int h = 0; h < 2; h++) {
				double *at = slab + at_c + 8 * h * DEPTH;
				if constexpr (!TURNS) {
					at += (first + 8 * i) ^ turn_c;
					f(*(double2 *)at, (double2 &)sum[i][2 * h]);
				} else {
#pragma unroll
					for (int e = 0; e < 2; e++)
						f(at[((first + 8 * i + e) & (DEPTH - 1)) ^ turn_c],
						        sum[i][2 * h + e]);
				}
			}
	}

	DEVICE void load_c(double *slab)
	{
		each_of_c(slab, [](auto &x, auto &y) { y = x; });
	}

	/* By way of the slab, whose part only this warp uses. */
	DEVICE void store_c(double *slab, const struct tall_operand &c, int64_t first)
	{
		const int beside = 32 / S::OWN; /* columns that a warp stores at once */
		const int i = row + threadIdx.x % 32 % S::OWN, j = threadIdx.x % 32 / S::OWN;
		double *to = c.data + first + i + (column + j) * c.ld;

		each_of_c(slab, [](auto &x, auto &y) { x = y; });
		__syncwarp();
#pragma unroll
		for (int x = 0; x < 16; x += beside, to += beside * c.ld)
			if (first + i < c.rows && column + j + x < c.columns)
				*to = slab[(S::K + column + j + x) * DEPTH +
				           ((TURNS ? (i + c.shift<TURNS>((j + x) % 4)) & (DEPTH - 1)
				                   : i) ^
				                   slab_turn(j + x))];
	}
};

template <class S, bool TURNS, bool GRAM>
__global__ void __launch_bounds__(TALL_THREADS, 1)
        update_kernel(const __grid_constant__ struct update_args g)
{
	extern __shared__ __align__(16) unsigned char dynamic[];
	double *memory = (double *)dynamic;
	const int team = (int)blockIdx.x / g.across, first = (int)blockIdx.x % g.across * S::WIDTH;
	const struct tall_operand c = columns_from(g.c, first, S::WIDTH);
	const int64_t start = (int64_t)team * DEPTH, stride = (int64_t)g.teams * DEPTH;
	slab_copies<S::K, DEPTH, TURNS> next_v(g.v, start, true);
	slab_copies<S::WIDTH, DEPTH, TURNS> next_c(c, start, true);
	slab_ring<S::STAGES> ring = {S::STAGES - 1, S::STAGES - 2};
	update_warp<S, TURNS> mine(g.v, c);
	gram_sums gram = {};

	static_assert(!GRAM || (S::TURNS && S::WIDTH >= 64), "C's slab as C^T C reads it");
	for (int i = 0; i < S::STAGES - 1; i++) {
		double *to = memory + i * S::SLAB;
		next_v.template start<1>(to, 0);
		next_c.template start<1>(to + S::K * DEPTH, 0);
		next_v.advance(stride, true);
		next_c.advance(stride, true);
		copy_commit();
	}
	mine.load_w(g, first, c.columns);
	for (int64_t row = start; row < g.c.rows; row += stride) {
		ring.wait();
		double *slab = memory + ring.now * S::SLAB, *to = memory + ring.free * S::SLAB;
		const bool busy = mine.column < c.columns;
		mine.load_c(slab);
		mine.load_v(slab, 0, 0);
#pragma unroll
		for (int x = 0; x < S::PARTS; x++) {
			if (x + 1 < S::PARTS)
				mine.load_v(slab, (x + 1) % 2, x + 1);
			next_v.template start<S::PARTS>(to, x);
			next_c.template start<S::PARTS>(to + S::K * DEPTH, x);
			if (busy)
				mine.multiply(x % 2, x);
		}
		copy_commit();
		next_v.advance(stride, true);
		next_c.advance(stride, true);
		if (busy)
			mine.store_c(slab, c, row);
		if (GRAM && row >= g.skipped) {
			__syncthreads();
			gram_add<DEPTH>(
			        gram, slab + S::K * DEPTH, c.shift<TURNS>(threadIdx.x % 32 / 4));
		}
	}
	if (GRAM)
		gram_store(gram, g.gram + (int64_t)blockIdx.x * GRAM_WORDS);
}

template <class S, bool GRAM = false> int launch(const struct update_args &g, cudaStream_t stream)
{
	const auto kernel = g.v.pairs && g.c.pairs ? update_kernel<S, false, GRAM>
	                                           : update_kernel<S, S::TURNS, GRAM>;
	const int error = kernel_allow_shared((const void *)kernel);

	if (error)
		return error;
	kernel<<<(unsigned)(g.across * g.teams), TALL_THREADS, S::BYTES, stream>>>(g);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int double_tall_update(const struct double_tall_plan *plan, double alpha,
        struct matrix v, struct matrix w, struct matrix c, void *stream)
{
	const struct update_args g = {tall_operand_of(v), tall_operand_of(c),
	        (const double *)matrix_address(w), w.ld, alpha, plan->across, plan->teams, NULL, 0};
	const cudaStream_t s = (cudaStream_t)stream;

	if (c.m == 0 || c.n == 0 || v.n == 0)
		return (int)cudaSuccess;
	if (plan->side <= 64)
		return plan->width <= 32   ? launch<update_shape<64, 32, 6>>(g, s)
		       : plan->width <= 64 ? launch<update_shape<64, 64, 6>>(g, s)
		                           : launch<update_shape<64, 128, 4>>(g, s);
	return plan->width <= 32   ? launch<update_shape<128, 32, 5>>(g, s)
	       : plan->width <= 64 ? launch<update_shape<128, 64, 4>>(g, s)
	                           : launch<update_shape<128, 128, 3>>(g, s);
}

extern "C" int double_tall_update_gram(const struct double_tall_plan *plan, double alpha,
        struct matrix v, struct matrix w, struct matrix c, int64_t skipped, double *gram,
        void *stream)
{
	const struct update_args g = {tall_operand_of(v), tall_operand_of(c),
	        (const double *)matrix_address(w), w.ld, alpha, plan->across, plan->teams, gram,
	        skipped};
	const cudaStream_t s = (cudaStream_t)stream;

	return plan->side > 64     ? launch<update_shape<128, 64, 4>, true>(g, s)
	       : plan->width <= 64 ? launch<update_shape<64, 64, 6>, true>(g, s)
	                           : launch<update_shape<64, 128, 4>, true>(g, s);
}
