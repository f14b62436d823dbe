/* SPDX-License-Identifier: MIT */
/* The passes of Gram-Schmidt over a matrix by several threads, for the host_gram probe and the
 * host executor. gram_loops.h has the loops over a column.
 *
 * Each thread has neighbouring columns, because processors prefetch beyond a column's end, and a
 * prefetched line that another core has changed is lost. A thread without work helps the slowest
 * thread, because threads may differ in speed: when applying q, and in passes over columns that
 * do not fit the thread's cache. The helper does not change any bit of the result. */
#pragma once

#include "gram_loops.h"
#include "gram_schmidt_kernels.h"

/* Most threads of a pass. */
enum { GRAM_THREADS = 256 };

struct gram_threads {
	const struct gram_loops *loops;
	int threads;
	int64_t held; /* bytes of second-level cache a core; 0: unknown */
};

/* norms (a.n x 1) := the squares of the columns' norms. */
void gram_threads_norms(const struct gram_threads *, struct matrix a, struct matrix norms);

/* The steps of struct gram_schmidt at column j; work: a.n elements. fused: j + 1 < n. */
void gram_threads_dots(const struct gram_threads *, const struct gram_schmidt *g, int64_t j);
void gram_threads_update(const struct gram_threads *, const struct gram_schmidt *g, int64_t j);
void gram_threads_fused(const struct gram_threads *, const struct gram_schmidt *g, int64_t j);

/* Projects q's columns, one after the other, out of a's; r (q.n x a.n) gets the coefficients. */
void gram_threads_apply(
        const struct gram_threads *, struct matrix q, struct matrix r, struct matrix a);
