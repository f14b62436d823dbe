/* SPDX-License-Identifier: MIT */
/* The rate of multiply-adds of the processor's widest vectors. */
#pragma once

#include "lib/base/base.h"

/* Flops a second (a multiply-add is two) of the calling thread, over so many seconds; NaN on
 * processors other than x86-64 and aarch64. */
double fma_flops(bool is_double, double seconds);
