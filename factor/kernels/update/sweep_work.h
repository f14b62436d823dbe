/* SPDX-License-Identifier: MIT */
/* The work of sweep_kernel down a triangle of order n with p further rows and one right-hand side;
 * Q has q rows. sms: of the device, which hold a block each. */
#pragma once

#include "factor/kernels/kernel_work.h"

void sweep_work(enum precision, double p, double n, double q, int sms, struct kernel_work *);
