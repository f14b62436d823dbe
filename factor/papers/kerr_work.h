/* SPDX-License-Identifier: MIT */
/* The work of Kerr's kernels (kerr_kernels.h) on operands that L2 holds, and their geometry. */
#pragma once

#include "factor/kernels/kernel_work.h"

enum {
	KERR_BLOCK = 64,        /* threads of the products' blocks */
	KERR_HOUSE_BLOCK = 256, /* threads of a block of kerr_house */
	KERR_HOUSE_ROWS = 1024, /* rows that it writes */
	KERR_UNROLL = 4         /* loads that a thread of the transposed product has under way */
};

/* A product with an m x n matrix; column j of a block of m rows. */
void kerr_gemv_work(
        enum precision precision, bool transposed, double m, double n, struct kernel_work *work);
void kerr_house_work(enum precision precision, double m, double j, struct kernel_work *work);
