/* SPDX-License-Identifier: MIT */
/* Products with a matrix are slow when its columns do not begin at vectors of 16 bytes. Where this
 * costs more than two copies, the matrix is factorized in an aligned copy. Only the leading
 * dimension decides, the one fact known when a workspace is asked for. Products of split operands
 * need an aligned C: with them smaller matrices are copied. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* Columns begin at vectors, or at sectors of memory (Cholesky in double precision). */
enum { ALIGNED_VECTOR = 16, ALIGNED_SECTOR = 32 };

/* The matrix itself, or room for its copy when its leading dimension is no multiple of `bytes`. */
struct matrix aligned_workspace(
        const struct executor *, struct workspace *, struct matrix a, int64_t bytes);

/* Copies a triangle or all, there or back, in QUEUE_MAIN; does nothing when the two are one. */
bool aligned_copy(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);
