/* SPDX-License-Identifier: MIT */
/* The Householder panel without an exchange a column, in single precision: Householder steps on the
 * Gram matrix in double precision, then all vectors by one product.
 *
 * A1 is the first 64 rows of A, A2 the rows below. Step j needs row j of A and sums over the rows
 * below it, which are the remainder of G = A^T A. Row j of R is that of Cholesky, with the
 * reflector's sign. The reflector is applied to A1 and to Y, which starts as the identity; then v_j
 * = A y_j, V2 = A2 Y, and V1 follows from the steps on A1. T^-1 = striu(V^T V) + diag(V^T V) / 2
 * and tau = 2 / v^T v come from the stored V in double precision. I - V T V^T is therefore
 * orthogonal to working accuracy whatever the error of G.
 *
 * If an element of Y (for columns of norm 1) exceeds LIMIT or is not finite, the matrix stays
 * unchanged and *done is 0; another form factorizes the panel, and this file makes its V and T. An
 * identity reflector gets tau = 0 and its row of R the other sign, as in LAPACK.
 *
 * Cost: m n^2 operations each for G, V2 and V2^T V2 on the tensor cores (half of the last two are
 * skipped), 3 m n words (V: one more), 6 launches, and one chain of n pivots in one block.
 * Experiments: docs/experiments/qr-panel.md. */
#include "panel_geqrf_gram_double.h"
#include "panel_geqrf_gram_kernels.cuh"

namespace
{

/* From G: Y, and V1 and R for the panel, unless Y is too large. */
__global__ void __launch_bounds__(SIDE *SIDE) reflect_kernel(const struct panel<float> g)
{
	extern __shared__ double memory[];
	struct steps &s = *(struct steps *)memory;
	__shared__ double squares[ORDER];

	early_begin();
	const bool fine = reflect_panel(g, s, squares);
	if (threadIdx.x == 0)
		*g.done = fine;
	store_steps(g, s, fine);
}

const int64_t STREAM_BYTES = sizeof(struct stream_memory<float>) + rings_bytes<float, ORDER>(2);
static_assert(sizeof(struct stream_memory<float>) + rings_bytes<float, GRAM_NARROW>(2) >=
                      GRAM_PAIRS / 2 * TILE_WORDS * 8,
        "half of the pairs' sums");
static_assert(STREAM_BYTES >= (int64_t)sizeof(struct steps), "what a device must have");

} // namespace

extern "C" int64_t panel_geqrf_gram_work(enum precision precision)
{
	const int64_t blocks = gpu_current()->sm_count;
	return 16 + (2 * ORDER * ORDER + blocks * TILE_WORDS) * 8 +
	       (precision == DOUBLE ? panel_gram_double_work() : 0);
}

extern "C" bool panel_geqrf_gram_fits(enum precision precision, int64_t m, int64_t n)
{
	const int64_t bytes = precision == DOUBLE ? panel_gram_double_shared() : STREAM_BYTES;
	return n <= ORDER && m >= n && gpu_current()->code >= 80 &&
	       gpu_current()->shared_per_block >= bytes;
}

extern "C" int panel_geqrf_gram_begin(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, bool summed, int *done, void *work, void *stream)
{
	if (precision == DOUBLE)
		return panel_gram_double_begin((double *)a, lda, m, n, summed, done, work, stream);

	const struct panel<float> g =
	        panel_of<float>((float *)a, lda, m, n, NULL, done, NULL, work);
	cudaError_t error = g.n <= GRAM_NARROW ? launch_gram<GRAM_NARROW>(g, false, stream)
	                                       : launch_gram<ORDER>(g, false, stream);
	if (error == cudaSuccess)
		error = early_launch(
		        reflect_kernel, 1, SIDE * SIDE, sizeof(struct steps), g, stream);
	return (int)error;
}

extern "C" int panel_geqrf_gram_end(enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, int *done, const struct block_reflector *r, void *work, void *stream)
{
	if (precision == DOUBLE)
		return panel_gram_double_end(
		        (double *)a, lda, m, n, (double *)tau, done, r, work, stream);
	return (int)launch_end(
	        panel_of<float>((float *)a, lda, m, n, (float *)tau, done, r, work), stream);
}
