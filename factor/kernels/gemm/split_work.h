/* SPDX-License-Identifier: MIT */
/* The work of splitting both operands of a product, n x k of each, the left one transposed. */
#pragma once

#include "factor/kernels/kernel_work.h"

void tf32_split_work(double n, double k, struct kernel_work *);
void half_pair_work(double n, double k, struct kernel_work *);
