/* SPDX-License-Identifier: MIT */
/* The passes of Gram-Schmidt over a matrix by a team of threads, which the host_gram probe measures
 * and the host executor runs; what a thread does with a column is gram_loops.h's.
 *
 * The columns of a pass are a row of neighbours for each thread, as processors fetch ahead beyond
 * a column's end: what another core has changed there would be lost to it. A thread that is through
 * with its own helps the one that is farthest behind, as threads are not always equally fast: with
 * blocks, and with columns that its cache does not hold in any case. That changes no bit of the
 * result. */
#ifndef FATHOM_GRAM_THREADS_H
#define FATHOM_GRAM_THREADS_H

#include "gram_loops.h"
#include "gram_schmidt_kernels.h"

/* Threads of a team, at most: more are not woken. */
enum { GRAM_THREADS = 256 };

struct gram_threads {
	const struct gram_loops *loops;
	int threads;
	int64_t held; /* bytes that the second cache of a thread's core holds; 0: unknown */
};

/* norms (a.n x 1) := the squares of the columns' norms. */
void gram_threads_norms(const struct gram_threads *, struct matrix a, struct matrix norms);

/* The steps of struct gram_schmidt, at column j; its work: a.n elements. fused: j + 1 < n */
void gram_threads_dots(const struct gram_threads *, const struct gram_schmidt *g, int64_t j);
void gram_threads_update(const struct gram_threads *, const struct gram_schmidt *g, int64_t j);
void gram_threads_fused(const struct gram_threads *, const struct gram_schmidt *g, int64_t j);

/* Takes q's columns, one after the other, out of a's, and leaves in r (q.n x a.n) what was. */
void gram_threads_apply(const struct gram_threads *, struct matrix q, struct matrix r, struct matrix a);

#endif
