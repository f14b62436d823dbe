/* SPDX-License-Identifier: MIT */
/* Load balance of the CPU and the GPU, which Kerr, Campbell and Richards leave to future work: QR
 * with the whole Q, in which the host's cores apply the reflectors to the last `share` columns of A
 * while the device applies them to the others. These columns go to the host at the beginning and
 * come back when the panels reach them. The reflectors of every panel go to the host. */
#pragma once

#include "factor/executors/executor.h"

/* a m x n with m >= n, q m x m, of one precision; blocks of r columns, at most geqrf's widest leaf;
 * share: 0 to n - 1 columns, 0: none. Look-ahead; panels on the device. Leaves geqrf's result in A.
 * -1 or false with the executor's fault when something is refused or fails. work:
 * kerr_balance_work bytes. The call may return before the work is done; all work ends in
 * QUEUE_MAIN. Overwrites the executor's stages. */
int64_t kerr_balance_work(
        struct executor *, int64_t r, int64_t share, struct matrix a, struct matrix q);
bool kerr_balance(
        struct executor *, int64_t r, int64_t share, struct matrix a, struct matrix q, void *work);
