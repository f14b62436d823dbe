/* SPDX-License-Identifier: MIT */
/* Cholesky factorization of a symmetric positive definite matrix, A = L L^T (LOWER) or U^T U
 * (UPPER): blocked, right-looking, with look-ahead. Both triangles run the same sequence, one on
 * the transposed view. Only the chosen triangle is read or written.
 *
 * Hybrid plans send either the whole panel to the host CPU, which factorizes and solves (plan
 * inverse 0; Volkov and Demmel, LAWN 202), or only its diagonal block, and the device solves with
 * the inverses (inverse > 0). */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* Widest diagonal block of the executor's potrf_block; plan->leaf is at most this. */
enum { POTRF_LEAF_MAX = 512 };

/* On the device, without inverses, leaves up to this width solve for the rows below them in the
 * same call; below wider leaves trsm solves. */
enum { POTRF_WHOLE_LEAF = 128 };

/* Bytes of executor memory that potrf needs besides the matrix, or -1 with the executor's fault
 * when it refuses the plan or the shape. */
int64_t potrf_work(struct executor *, const struct plan *, enum uplo uplo, struct matrix a);

/* Factorizes the n x n matrix a in place. info, in executor memory: 0, or the order of the first
 * leading minor that is not positive definite (its pivot is not positive, or NaN). Then the blocks
 * before this minor's are factorized, and the rest of the triangle is undefined. work: potrf_work
 * bytes. False with the executor's fault on failure. The call may return before the work is done;
 * later work in QUEUE_MAIN comes after it. */
bool potrf(struct executor *, const struct plan *, enum uplo uplo, struct matrix a, void *work,
        int *info);

/* The lower triangle's first columns alone: p is m x n, m >= n. Nothing right of them is updated.
 * plan->leaf is at most POTRF_WHOLE_LEAF. In the current queue. */
bool potrf_columns(struct executor *, const struct plan *, struct matrix p, int *info);
