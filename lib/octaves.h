/* SPDX-License-Identifier: MIT */
/* Sizes of a sweep, so many in each octave. */
#ifndef FATHOM_OCTAVES_H
#define FATHOM_OCTAVES_H

#include "base.h"

/* Sizes uniform in the logarithm from low to high, in whole units, `per_octave` in each octave: the
 * k-th, or 0 when that is beyond high. Coarse units make neighbours equal. */
int64_t octave_size(int64_t low, int64_t high, int per_octave, int k, int64_t unit);

/* 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 ...: whole numbers, four in each octave. */
int64_t octave_count(int k);

#endif
