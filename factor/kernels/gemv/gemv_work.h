/* SPDX-License-Identifier: MIT */
/* The work of y = op(A) x. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "gemv.h"

/* Of gemv_tuned with gemv_plan's grid. cold: no operand is in L2. */
void gemv_tuned_work(const struct gemv_call *call, const struct tuning *tuning, bool cold,
        struct kernel_work *work);
