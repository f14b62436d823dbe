/* SPDX-License-Identifier: MIT */
/* The work of a solve's guard and of small updates, with operands in L2. */
#pragma once

#include "factor/kernels/kernel_work.h"

/* block_trsm_guard of order n beside so many right-hand sides, with an inverse that is good. */
void block_guard_work(enum precision, double n, double sides, struct kernel_work *);

/* block_rank of a lower trapezoid, m x n, inner dimension k; passes of shared memory of its tiles.
 */
double block_rank_passes(enum precision, double tiles, double k);
/* aligned: X and C, to 16 bytes. */
void block_rank_work(
        enum precision, double m, double n, double k, bool aligned, struct kernel_work *);
