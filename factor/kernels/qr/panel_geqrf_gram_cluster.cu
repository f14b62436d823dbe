/* SPDX-License-Identifier: MIT */
/* The Householder panel by the Gram matrix (factor/kernels/qr/panel_geqrf_gram.cu) in one kernel on
 * one cluster of multiprocessors, for as many rows as their shared memory holds. Several kernels
 * would lose time between launches, and would wait for free multiprocessors beside an update.
 *
 * Each block keeps its rows in shared memory. Each block adds up its part of the sums and sends it
 * through distributed shared memory to the first block, which makes the steps and T. All blocks
 * fetch Y through global memory, because one block's shared memory serves 16 readers slowly. A
 * panel has six cluster barriers instead of one exchange a column.
 *
 * Cost: the transfer of the panel, 3 m n^2 operations on 16 multiprocessors' tensor cores, and a
 * chain of n pivots in one block. Experiments: docs/experiments/qr-panel.md. */
#include "lib/base/base.h"
#include "lib/device/early_launch.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_gram_cluster_body.cuh"
#include "lib/device/resident.h"

namespace
{

/* ROWS: of a thread in the other form. */
template <int ROWS>
__global__ void __launch_bounds__(THREADS, 1) gram_cluster_kernel(const struct gram_panel g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	extern __shared__ __align__(16) unsigned char bytes[];
	struct memory &s = *(struct memory *)bytes;

	early_wait();
	if (factorize_gram(g, s))
		return;
	const struct householder_panel<float> h = {
		g.a, g.lda, g.m, g.n, g.tau, g.v, g.t, g.ldv, g.ldt, g.error, NULL
	};
	factorize_columns<float, ORDER, ROWS>(h, s.columns);
#endif
}

/* ---- launch ---- */

const struct variant {
	int rows; /* of a thread */
	const void *kernel;
} variants[] = {{2, (const void *)gram_cluster_kernel<2>},
        {4, (const void *)gram_cluster_kernel<4>}, {8, (const void *)gram_cluster_kernel<8>}};
enum {
	VARIANTS = sizeof variants / sizeof *variants,
	ROWS_OF_WARP = 32 * WORDS / ORDER /* for each of a thread */
};

static_assert(
        GRAM_FIRST_ROWS + (CLUSTER_MAX - 1) * GRAM_OTHER_ROWS >= PANEL_GRAM_CLUSTER_ROWS, "of all");

const struct variant *variant_of(int64_t m, int blocks)
{
	const struct variant *v = variants;
	while (v < variants + VARIANTS - 1 && (int64_t)blocks * WARPS * ROWS_OF_WARP * v->rows < m)
		v++;
	return v;
}

size_t bytes_of(int64_t first, int64_t share)
{
	const int64_t column = ORDER * (int64_t)sizeof(float);
	const int64_t of_first = SLAB_FIRST + (first + PAD) * column;
	const int64_t of_others = SLAB + (share + PAD) * column;

	return (size_t)(of_first > of_others ? of_first : of_others);
}

/* Whether the current device takes the largest cluster with the most rows. */
bool launchable(void)
{
	static thread_local struct cluster_answer last[VARIANTS];
	bool all = true;
	for (int i = 0; i < VARIANTS; i++)
		all = all && cluster_takes(&last[i], variants[i].kernel, CLUSTER_MAX, THREADS,
		                     bytes_of(GRAM_FIRST_ROWS, GRAM_OTHER_ROWS));
	return all;
}

} // namespace

extern "C" bool panel_geqrf_gram_cluster_fits(int64_t m, int64_t n)
{
	return n <= ORDER && m >= n && m <= PANEL_GRAM_CLUSTER_ROWS && launchable();
}

extern "C" int panel_geqrf_gram_cluster(float *a, int64_t lda, int64_t m, int64_t n, float *tau,
        const struct block_reflector *r, void *work, void *stream)
{
	const struct gram_shares to = gram_shares_of(m);
	const int blocks = to.blocks;
	struct gram_panel g = {a, lda, (int)m, (int)n, to.first, to.share, tau, NULL, NULL, 0, 0,
	        (uint32_t *)work, (double *)work + 2};
	if (r) {
		g.v = (float *)r->v;
		g.ldv = r->ldv;
		g.t = (float *)r->t;
		g.ldt = r->ldt;
	}
	return early_cluster_launch(variant_of(m, blocks)->kernel, blocks, blocks, THREADS,
	        bytes_of(g.first, g.share), &g, stream);
}
