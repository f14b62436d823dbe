/* SPDX-License-Identifier: MIT */
/* Kernels of the checks and of test matrices, on the default stream: the caller synchronizes the
 * device before and after. They return a cudaError_t. Unused without the CUDA Toolkit. */
#pragma once

#include "lib/base/precision.h"
#include "lib/base/base.h"

C_BEGIN

#if defined FATHOM_CUDA || defined __CUDACC__
/* to (double) = from, m x n */
int check_widen(const void *from, int64_t ld, int is_double, int64_t m, int64_t n, double *to,
        int64_t to_ld);

/* Random entries in (-1, 1), by seed and position; symmetric: a(i,j) = a(j,i), diagonal += shift */
int check_random(void *a, int64_t ld, int is_double, int64_t m, int64_t n, uint64_t seed,
        int symmetric, double shift);

/* The device is idle. */
int check_idle(void);
#else
#define check_widen(...) 1
#define check_random(...) 1
#define check_idle() 1
#endif

C_END
