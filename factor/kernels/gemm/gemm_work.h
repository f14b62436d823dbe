/* SPDX-License-Identifier: MIT */
/* The work of our matrix product. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "gemm.h"

/* Of gemm_launch on that plan; old: beta is not 0; aligned: A, B and C. Fills in one work, or two
 * when the plan splits k, and returns their number. */
size_t gemm_work(const struct gemm_problem *problem, const struct gemm_plan *plan,
        const struct tuning *tuning, bool old, bool aligned, struct kernel_work *work);
