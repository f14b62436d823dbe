/* SPDX-License-Identifier: MIT */
/* The work of block_qr_columns: V m x k, C m x n, in L2. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "factor/tuning/tuning.h"

/* The clusters that the device holds at once; and those that wait for them, if any, as a phase.
 * Returns the number of works, 0 where the kernel does not run. */
size_t qr_columns_works(int64_t m, int64_t k, int64_t n, const struct tuning_device *device,
        struct kernel_work work[2]);
