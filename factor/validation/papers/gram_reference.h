/* SPDX-License-Identifier: MIT */
/* Whether the host still has the profile's rates of Gram-Schmidt: some passes of the profile are
 * measured again. */
#pragma once

#include "lib/profile/profile.h"

/* Seconds of a step's passes by the bound OpenMP threads over the profile's; NaN where the profile
 * has none for that many threads. */
double gram_reference(const struct profile *profile, int threads);

/* The row of the profile beside which the ratio is kept (factor/validation/reference.h); NULL:
 * none. */
const struct parameter *gram_reference_row(const struct profile *profile, int threads);

/* Whether a case between two such ratios is disturbed: either is far above 1. */
bool gram_reference_slow(double before, double after);
