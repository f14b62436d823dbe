/* SPDX-License-Identifier: MIT */
/* The Householder panel of one cluster: rows in registers, one exchange a column through
 * distributed shared memory.
 *
 * The algorithm is that of factor/kernels/qr/panel_geqrf_resident.cu. Sums s_k of a_ij a_ik below
 * the diagonal and row j give the reflector and its multipliers; every warp computes them. A lane
 * holds ROWS rows of every LANES-th column, 16 columns in all. Most of a sum is added within a
 * lane, and a sum needs LANES times fewer shuffles than with whole rows. Blocks send sums directly
 * to all others, counted by an mbarrier there. Every warp adds the arrived sums itself; a column
 * has one block barrier.
 *
 * Column q LANES + c is in register 0 of the lanes of rank c; registers rotate by one after LANES
 * columns. Finished columns stay: their sums are V^T v, from which a column of T follows (T(0:j, j)
 * = -tau T(0:j, 0:j) V^T v, a row a warp) behind the next exchange. After a timeout threads
 * continue without sending, because a vote to leave would slow down every column.
 *
 * Cost: load and store of m n words (V: one more). A column: 2 m n fused multiply-adds on 16
 * multiprocessors, 16 + ROWS shuffles a warp, a block barrier, the transfer and the sum of 16
 * records, a root and a reciprocal. Experiments: docs/experiments/qr-panel.md. */
#include "lib/base/base.h"
#include "lib/device/early_launch.cuh"
#include "panel_geqrf.h"
#include "panel_geqrf_cluster_body.cuh"

namespace
{

template <typename real, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(32 * CLUSTER_WARPS, 1)
        cluster_kernel(const struct householder_panel<real> g)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
	__shared__ struct shared<real, COLUMNS> memory;

	early_wait();
	if (!g.done || !*g.done)
		factorize_columns<real, COLUMNS, ROWS>(g, memory);
#endif
}

/* ---- choice of a kernel ---- */

struct variant {
	struct cluster_shape shape;
	const void *kernel;
};

#define VARIANT(real, columns, rows)                                                               \
	{{sizeof(real) == 4 ? SINGLE : DOUBLE, columns, rows},                                     \
	        (const void *)cluster_kernel<real, columns, rows>},
const struct variant variants[] = {CLUSTER_SHAPES(VARIANT)};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* The current device's multiprocessor count. */
struct cluster_answer *answer_of(const struct variant *v)
{
	static thread_local struct cluster_answer last[VARIANTS];
	return &last[v - variants];
}

/* The first kernel that takes the panel with at most that many warps a block. */
const struct variant *find(enum precision precision, int64_t m, int64_t n, int warps)
{
	for (int i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		if (cluster_shape_takes(&v->shape, precision, m, n, warps) &&
		        cluster_takes_alone(
		                answer_of(v), v->kernel, CLUSTER_BLOCKS, 32 * CLUSTER_WARPS))
			return v;
	}
	return NULL;
}

/* NULL when no kernel takes the panel. More rows a thread are faster than a second warp on a
 * scheduler. */
const struct variant *choose(enum precision precision, int64_t m, int64_t n)
{
	const struct variant *v = find(precision, m, n, CLUSTER_WARPS / 2);
	return v ? v : find(precision, m, n, CLUSTER_WARPS);
}

template <typename real>
int run(const struct variant *v, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        const struct block_reflector *r, const int *done, void *work, int blocks, void *stream)
{
	struct householder_panel<real> g = {
		(real *)a, lda, (int)m, (int)n, (real *)tau, (real *)r->v,
		        (real *)r->t, r->ldv, r->ldt, (uint32_t *)work, done
	};
	return early_cluster_launch(v->kernel, blocks, blocks,
	        32 * cluster_warps_of(&v->shape, m, blocks), answer_of(v)->whole, &g, stream);
}

} // namespace

extern "C" bool panel_geqrf_cluster_fits(enum precision precision, int64_t m, int64_t n)
{
	return choose(precision, m, n) != NULL;
}

extern "C" int64_t panel_geqrf_cluster_work(enum precision, int64_t, int64_t)
{
	return sizeof(uint32_t);
}

extern "C" int panel_geqrf_cluster_unless(const int *done, enum precision precision, void *a,
        int64_t lda, int64_t m, int64_t n, void *tau, const struct block_reflector *r, void *work,
        void *stream)
{
	const struct block_reflector none = {NULL, 0, NULL, 0}, *to = r ? r : &none;
	const struct variant *v = choose(precision, m, n);
	if (!v)
		return (int)cudaErrorInvalidValue;
	const int blocks = cluster_blocks_of(&v->shape, m);
	return precision == SINGLE
	               ? run<float>(v, a, lda, m, n, tau, to, done, work, blocks, stream)
	               : run<double>(v, a, lda, m, n, tau, to, done, work, blocks, stream);
}
