/* SPDX-License-Identifier: MIT */
/* Solves with one distributed triangle, the first min(m, n) rows and columns of a. */
#pragma once

#include "distributed.h"

/* False with the executor's fault when b cannot be right-hand sides for a. */
bool sweep_check(struct executor *, const struct distributed *a, const struct distributed *b);

int64_t sweep_triangle_work(
        struct executor *, const struct distributed *a, const struct distributed *b);
bool sweep_triangle(struct executor *, enum uplo uplo, enum trans trans, enum diag diag,
        const struct distributed *a, const struct distributed *b, void *work);
