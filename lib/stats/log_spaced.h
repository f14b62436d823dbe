/* SPDX-License-Identifier: MIT */
/* Log-spaced sizes of a sweep. */
#pragma once

#include "lib/base/base.h"

/* The k-th of the sizes from low to high, `per_doubling` in each factor of two, rounded to whole
 * units; 0 beyond high. With coarse units neighbours may be equal. */
int64_t log_spaced_size(int64_t low, int64_t high, int per_doubling, int k, int64_t unit);

/* 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 ...: whole numbers, four in each factor of two. */
int64_t log_spaced_count(int k);
