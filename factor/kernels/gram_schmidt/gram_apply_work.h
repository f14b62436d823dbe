/* SPDX-License-Identifier: MIT */
/* The work of gram_schmidt_apply: k columns of q, m rows, taken out of n columns. held: columns
 * of a block, GRAM_APPLY_COLUMNS or 1. */
#pragma once

#include "factor/kernels/kernel_work.h"

void gram_apply_work(
        enum precision, double m, double k, double n, double held, struct kernel_work *);
