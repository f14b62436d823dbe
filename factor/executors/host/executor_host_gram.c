/* SPDX-License-Identifier: MIT */
/* The host executor's Gram-Schmidt: the passes of gram_threads.h. Passes of at least GRAM_PARALLEL
 * elements use all threads. */
#include "executor_host_gram.h"

#include "executor_host.h"

#include "factor/kernels/gram_schmidt/gram_threads.h"

#include <omp.h>

static struct gram_threads pinned_for(const struct executor *e, int64_t m, int64_t n)
{
	const struct host_executor *h = (const struct host_executor *)e;

	return (struct gram_threads){.loops = h->gram ? h->gram : gram_loops(),
	        .threads = m * n >= GRAM_PARALLEL ? omp_get_max_threads() : 1,
	        .held = h->l2_bytes};
}

void host_gram_use(struct executor *e, const struct gram_loops *loops)
{
	((struct host_executor *)e)->gram = loops;
}

bool host_column_norms(struct executor *e, struct matrix a, struct matrix norms)
{
	const struct gram_threads pinned = pinned_for(e, a.m, a.n);

	gram_threads_norms(&pinned, a, norms);
	return true;
}

/* The dot products of the current column. */
int64_t host_gram_work(struct executor *e, struct matrix a)
{
	(void)e;
	return a.n * precision_bytes(a.precision);
}

#define PASS(name)                                                                                 \
	bool host_gram_##name(struct executor *e, const struct gram_schmidt *g, int64_t j)         \
	{                                                                                          \
		const struct gram_threads pinned = pinned_for(e, g->a.m, g->a.n - j);              \
		gram_threads_##name(&pinned, g, j);                                                \
		return true;                                                                       \
	}
PASS(dots)
PASS(update)
PASS(fused)

bool host_gram_panel(struct executor *e, const struct gram_schmidt *g)
{
	return gram_by_passes(e, g, g->a.n);
}

bool host_gram_apply(
        struct executor *e, struct matrix q, struct matrix r, struct matrix a, bool single)
{
	const struct gram_threads pinned = pinned_for(e, a.m, a.n * q.n);

	(void)single;
	gram_threads_apply(&pinned, q, r, a);
	return true;
}
