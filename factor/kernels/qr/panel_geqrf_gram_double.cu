/* SPDX-License-Identifier: MIT */
/* The Householder panel by its Gram matrix (factor/kernels/qr/panel_geqrf_gram.cu) in double
 * precision. There the error of A^T A matters: it grows with the square of the condition of A. If
 * the columns are not nearly orthogonal, one pass therefore makes them so first: A^T A = R1^T R1 by
 * Cholesky, Q1 = A R1^-1. The steps follow on Q1: V = Q1 Y, and R = R2 R1, where R2 is the steps'
 * upper triangle. Only the first rows of Q1 are stored, in the place of A's, for V = A (R1^-1 Y)
 * below them. Where R1^-1 is large, Q1 += (A - Q1 R1) R1^-1 removes the rounding errors of the
 * product; all of Q1 then replaces A.
 *
 * If Cholesky breaks down, a column of R1^-1 (for columns of A of norm 1) is longer than LIMIT, or
 * a column's norm is extreme, the matrix stays unchanged and *done is 0. If not, Q1^T Q1 differs
 * from the identity by less than a hundredth, and no later step can fail.
 *
 * Cost: m n^2 operations each for A^T A, V2 and V2^T V2 on the tensor cores (half of the last two
 * are skipped), 3 m n words (V: one more), 10 launches, and a chain of n pivots; with Q1 as many
 * operations again for it and Q1^T Q1, m n words more (refined: two) and two chains more. */
#include "panel_geqrf_gram_double.h"
#include "panel_geqrf_gram_steps.cuh"

namespace
{

/* As stream_memory, with both triangles. */
struct scale_memory {
	double factor[TILE_WORDS];
	struct stream_memory<double> stream;
};

/* The sums of Q1^T Q1, and Q1 in the place of A's first rows or, refined, of A, by one warp of a
 * pair. */
template <int HALF, int WIDTH>
__device__ __forceinline__ void orthogonalize(
        const struct scaled_panel &g, const struct seat_of_pair &t, struct scale_memory &s)
{
	const double *inverse = s.stream.triangle;
	half_slab<double> &made = s.stream.made[t.pair];
	const struct shifts by = shifts_of(g, 0), none = {0, 0};
	const bool refine = *g.refine;
	const struct panel_rows<double> kept = {
		g.a, g.lda, refine ? g.m : g.n, g.n
	};
	half_tiles sum = {};

	static_assert((int)rows_in<double>::ROWS == (int)AT_ONCE, "a slab at a time");
	for_parts<WIDTH>(g, t, 0, ring_of<WIDTH>(g, t, s.stream),
	        [&](slab<WIDTH, double> &rows, const struct part &p) {
		        if (p.rows == 0) /* for both warps of the pair */
			        return;
		        multiply_half<HALF, WIDTH, REPLACES>(inverse, rows, 0, made, t.lane, by);
		        meet(t);
		        if (refine) {
			        multiply_half<HALF, WIDTH, SUBTRACTS>(
			                s.factor, made, 0, rows, t.lane, by);
			        meet(t);
			        multiply_half<HALF, WIDTH, ADDS>(
			                inverse, rows, 0, made, t.lane, none);
			        meet(t);
		        }
		        accumulate_half<HALF, WIDTH>(sum, made, AT_ONCE, t.lane);
		        if (p.first < kept.m)
			        store_half<WIDTH, double>(kept, t, made, p.first);
	        });
	store_sums(g, t, sum, (double *)&s);
}

template <int WIDTH>
__global__ void __launch_bounds__(rows_in<double>::THREADS, 1)
        orthogonalize_kernel(const struct scaled_panel g)
{
	extern __shared__ __align__(16) double memory[];
	struct scale_memory &s = *(struct scale_memory *)memory;
	const struct seat_of_pair t = take_seat_of_pair();

	early_begin();
	if (*g.once || !*g.done)
		return;
	start_parts<WIDTH>(g, t, 0, ring_of<WIDTH>(g, t, s.stream));
	spread<double>(g.inverse, true, s.stream.triangle);
	spread<double>(g.factor, true, s.factor);
	__syncthreads();
	if (t.half)
		orthogonalize<1, WIDTH>(g, t, s);
	else
		orthogonalize<0, WIDTH>(g, t, s);
}

struct scaled_panel scaled_panel_of(
        double *a, int64_t lda, int64_t m, int64_t n, int *done, void *work)
{
	struct scaled_panel g = {
	        panel_of<double>(a, lda, m, n, NULL, done, NULL, work), NULL, NULL, NULL, NULL};
	g.inverse = g.partial + (int64_t)gpu_current()->sm_count * TILE_WORDS;
	g.factor = g.inverse + ORDER * ORDER;
	g.refine = (int *)work + 1; /* the first word may be *done */
	g.once = (int *)work + 2;
	g.idle = g.once;
	return g;
}

} // namespace

extern "C" int64_t panel_gram_double_work(void)
{
	return 2 * ORDER * ORDER * 8;
}

extern "C" int64_t panel_gram_double_shared(void)
{
	constexpr int64_t bytes = sizeof(struct scale_memory) + rings_bytes<double, ORDER>(2);
	static_assert(
	        sizeof(struct stream_memory<double>) >= GRAM_PAIRS_DOUBLE / 2 * TILE_WORDS * 8,
	        "half of the pairs' sums");
	static_assert(bytes >= (int64_t)sizeof(struct steps_memory) &&
	                      bytes >= (int64_t)sizeof(struct factors),
	        "what a device must have");
	return bytes;
}

static cudaError_t launch_square(void (*kernel)(const struct scaled_panel), int64_t memory,
        const struct scaled_panel &g, void *stream)
{
	return early_launch(kernel, 1, SIDE * SIDE, memory, g, stream);
}

/* The sums of A^T A and the steps on them; and if they will not do, the Cholesky factor, the sums
 * of Q1^T Q1 and the steps on these. */
template <int WIDTH>
static cudaError_t launch_steps(const struct scaled_panel &g, bool summed, void *stream)
{
	struct scaled_panel all = g;
	all.idle = NULL;
	cudaError_t error = launch_gram<WIDTH, double>(all, summed, stream);
	if (error == cudaSuccess)
		error = launch_square(once_kernel, sizeof(struct steps), g, stream);
	if (error == cudaSuccess)
		error = launch_square(factor_kernel, sizeof(struct factors), g, stream);
	if (error == cudaSuccess)
		error = launch_stream<WIDTH, double>(
		        orthogonalize_kernel<WIDTH>, sizeof(struct scale_memory), g, stream);
	if (error == cudaSuccess)
		error = early_launch<panel<double>>(
		        sum_kernel<double>, SUM_BLOCKS, SUM_THREADS, 0, g, stream);
	if (error == cudaSuccess)
		error = launch_square(steps_kernel, sizeof(struct steps_memory), g, stream);
	return error;
}

extern "C" struct panel_sums panel_geqrf_sums(int64_t m, void *work)
{
	const struct panel<double> g = panel_of<double>(NULL, 0, m, 0, NULL, NULL, NULL, work);

	return {g.partial, g.blocks};
}

extern "C" int panel_gram_double_begin(double *a, int64_t lda, int64_t m, int64_t n, bool summed,
        int *done, void *work, void *stream)
{
	const struct scaled_panel g = scaled_panel_of(a, lda, m, n, done, work);
	return (int)(n <= GRAM_NARROW ? launch_steps<GRAM_NARROW>(g, summed, stream)
	                              : launch_steps<ORDER>(g, summed, stream));
}

extern "C" int panel_gram_double_end(double *a, int64_t lda, int64_t m, int64_t n, double *tau,
        int *done, const struct block_reflector *r, void *work, void *stream)
{
	return (int)launch_end(panel_of<double>(a, lda, m, n, tau, done, r, work), stream);
}
