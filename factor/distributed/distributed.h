/* SPDX-License-Identifier: MIT */
/* LU, Cholesky and QR of matrices spread over ranks by columns, and solves with their factors.
 * Every rank makes the same call with the same layout. The blocks of the layout are those of the
 * factorization: the owner of a block factorizes its panel, all ranks receive it and update their
 * own columns. With look-ahead the next panel's columns are updated first, and the panel and its
 * broadcast run beside the other updates. The results are LAPACK's.
 *
 * _work: bytes of executor memory besides the matrix, or -1 with the executor's fault. Calls may
 * return before their work is done; comm_sync waits, with a bound. */
#pragma once

#include "block_cyclic.h"

/* P A = L U. pivots: min(m, n) 1-based rows and info, the same on every rank. */
int64_t getrf_distributed_work(struct executor *, const struct distributed *a);
bool getrf_distributed(
        struct executor *, const struct distributed *a, void *work, struct pivots pivots);
