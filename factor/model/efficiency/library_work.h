/* SPDX-License-Identifier: MIT */
/* The work of cuBLAS's calls. What grids the library takes is not documented: the constants here
 * were seen by a profiler on compute capability 9.0 and are those of common kernels. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "lib/base/precision.h"

enum library_sweep { SWEEP_GEMV_N, SWEEP_GEMV_T, SWEEP_GER };

/* A sweep over an m x n matrix, which ger writes, too. cold: no operand is in L2. */
void library_sweep_work(enum library_sweep sweep, enum precision precision, double m, double n,
        bool cold, int sms, struct kernel_work *work);
