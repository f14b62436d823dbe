/* SPDX-License-Identifier: MIT */
/* The sum of a product's parts, in their order. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/matrix.h"

C_BEGIN

/* c = the sum of `parts` matrices of c's size and precision, each with leading dimension ld and
 * right behind the one before. stream is a cudaStream_t. Returns a cudaError_t. */
int gemm_sum(const void *parts, int count, int64_t ld, struct matrix c, void *stream);

C_END
