/* SPDX-License-Identifier: MIT */
/* The work of cuBLAS's calls. What grids the library takes is not documented: the constants here
 * were seen by a profiler on compute capability 9.0 and are those of common kernels. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "lib/base/precision.h"

/* A sweep over an m x n matrix that is read, and written too (ger) or not (gemv). cold: no operand
 * is in L2. */
void library_sweep_work(enum precision precision, double m, double n, bool written, bool cold,
        int sms, struct kernel_work *work);
