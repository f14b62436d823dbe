/* SPDX-License-Identifier: MIT */
/* The work of LU's row swaps, alone and with the solve and the update beside a panel. m x n: the
 * columns whose rows are swapped; k: swaps, which are the panel's columns, too. The working set is
 * what a call touches. */
#pragma once

#include "factor/kernels/kernel_work.h"

/* block_laswp: a launch for each chunk of swaps. */
void laswp_work(enum precision, double m, double k, double n, struct kernel_work *);

/* block_lu_rows, with the solve or swaps only, in row-major columns. */
void lu_rows_work(enum precision, bool solves, double k, double n, struct kernel_work *);

void lu_top_work(enum precision, double m, double k, double n, bool aligned, struct kernel_work *);

/* block_lu_columns in L2, m rows with the panel's own. */
void lu_columns_work(
        enum precision, double m, double n, double k, int sms, bool aligned, struct kernel_work *);

/* deferred_swaps_apply to a square of order n. */
void deferred_swaps_work(enum precision, double n, int64_t shared_per_block, struct kernel_work *);
