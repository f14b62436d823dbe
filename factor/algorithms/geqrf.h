/* SPDX-License-Identifier: MIT */
/* QR factorization, A = Q R, of any m x n matrix: blocked Householder (LAPACK's geqrf answer: R in
 * the upper triangle, the reflectors below it, tau), with look-ahead, panels on the device (Kerr,
 * Campbell and Richards 2009) or on the host CPU (Volkov and Demmel, LAWN 202). */
#ifndef FATHOM_GEQRF_H
#define FATHOM_GEQRF_H

#include "factor/executors/executor.h"
#include "plan.h"

/* Widest panel of the executor's panel_geqrf: plan->leaf is at most this. */
enum { GEQRF_LEAF_MAX = 128 };

/* Bytes of executor memory that geqrf needs besides the matrix (a copy of it and more where it is
 * not aligned: aligned.h), or -1 with the executor's fault when the plan or the shape is refused.
 */
int64_t geqrf_work(struct executor *, const struct plan *, struct matrix a);

/* Factorizes a in place. tau: min(m, n) x 1. work: geqrf_work bytes. False with the executor's
 * fault on failure. The call may return before it is done; what is put into QUEUE_MAIN later comes
 * after it. A NaN propagates. */
bool geqrf(struct executor *, const struct plan *, struct matrix a, struct matrix tau, void *work);

#endif
