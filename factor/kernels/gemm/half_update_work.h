/* SPDX-License-Identifier: MIT */
/* The work of updates by 3xFP16. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "factor/tuning/tuning.h"
#include "half_update.h"

/* Of half_update on a square C of order n, or its triangle; the pairs' inner dimension is k. */
void half_update_work(enum uplo part, int64_t n, int64_t k, bool shared,
        const struct tuning *tuning, struct kernel_work *work);
