/* SPDX-License-Identifier: MIT */
/* QR factorization, A = Q R, of any m x n matrix: blocked Householder with look-ahead, panels on
 * the device (Kerr, Campbell and Richards 2009) or on the host CPU (Volkov and Demmel, LAWN 202).
 * The result is that of LAPACK's geqrf: R in the upper triangle, the reflectors below it, tau. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"
#include "reflectors.h"

/* Widest panel of the executor's panel_geqrf; plan->leaf is at most this. */
enum { GEQRF_LEAF_MAX = 128 };

/* Bytes of executor memory that geqrf needs besides the matrix, or -1 with the executor's fault
 * when it refuses the plan or the shape. They include a copy of a matrix that is not aligned
 * (aligned.h). */
int64_t geqrf_work(struct executor *, const struct plan *, struct matrix a);

/* Factorizes a in place. tau: min(m, n) x 1. work: geqrf_work bytes. False with the executor's
 * fault on failure. The call may return before the work is done; later work in QUEUE_MAIN comes
 * after it. A NaN propagates. */
bool geqrf(struct executor *, const struct plan *, struct matrix a, struct matrix tau, void *work);

/* The same of one panel, m >= n, in the current queue, with its reflectors r (m x n): for a panel
 * inside a larger factorization. The plan gives the leaf alone. */
int64_t geqrf_panel_work(struct executor *, const struct plan *, struct matrix a);
bool geqrf_panel(struct executor *, const struct plan *, struct matrix a, struct matrix tau,
        struct reflectors r, void *work);
