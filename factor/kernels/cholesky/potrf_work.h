/* SPDX-License-Identifier: MIT */
/* The work of block_potrf for a lower triangle of order n with rows below it, in L2. */
#pragma once

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/kernel_work.h"

/* At most so many kernels. */
enum { POTRF_WORKS = 2 * (BLOCK_POTRF_MAX / 64) - 1 };

/* The kernels of the call, one after the other, and their number. */
size_t block_potrf_works(enum precision precision, int64_t n, int64_t below,
        const struct block_room *room, struct kernel_work *work);
