/* SPDX-License-Identifier: MIT */
/* cuSOLVERMg's LU and Cholesky on several GPUs of this process, as a reference. The library is
 * loaded at run time; without it, or without the CUDA Toolkit, vendor_mg_new returns NULL with a
 * fault. */
#pragma once

#include "factor/algorithms/plan_default.h"

struct vendor_mg;

/* An n x n matrix on `count` GPUs, in a grid of one row: blocks of nb columns, leading dimension n,
 * a[i] in the memory of devices[i]. n is a multiple of count * nb. Opens peer access between the
 * GPUs, and takes the workspace. operation: GETRF or POTRF (lower triangle). */
struct vendor_mg *vendor_mg_new(enum operation operation, enum precision precision, int count,
        const int *devices, int64_t n, int64_t nb, void *const *a, struct fault *fault);
void vendor_mg_free(struct vendor_mg *);

/* Factorizes the matrix that a holds now, to completion. False with the fault, also for a singular
 * matrix or one that is not positive definite. */
bool vendor_mg_run(struct vendor_mg *, struct fault *fault);
