/* SPDX-License-Identifier: MIT */
/* Sizes of a sweep, so many in each doubling. */
#ifndef FATHOM_LOG_SPACED_H
#define FATHOM_LOG_SPACED_H

#include "lib/base/base.h"

/* Sizes uniform in the logarithm from low to high, in whole units, `per_doubling` in each doubling: the
 * k-th, or 0 when that is beyond high. Coarse units make neighbours equal. */
int64_t log_spaced_size(int64_t low, int64_t high, int per_doubling, int k, int64_t unit);

/* 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 ...: whole numbers, four in each doubling. */
int64_t log_spaced_count(int k);

#endif
