/* SPDX-License-Identifier: MIT */
/* The work of block_trtri and block_larft (triangle_kernels.cu): the first block's tiles on the
 * diagonal, then its products, as phases of a kernel. */
#pragma once

#include "factor/kernels/kernel_work.h"

enum { TRIANGLE_WORKS = 2 };
void triangle_works(enum precision precision, int64_t n, struct kernel_work work[TRIANGLE_WORKS]);
