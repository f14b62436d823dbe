/* SPDX-License-Identifier: MIT */
/* Whether the host is as it was when its profile was measured, for Gram-Schmidt by threads: passes
 * that the profile has, measured again. */
#pragma once

#include "lib/profile/profile.h"

/* Seconds of a step's passes by the bound OpenMP threads over the profile's; NaN where the profile
 * has none for that many threads. Takes about 40 ms. */
double gram_reference(const struct profile *profile, int threads);

/* Whether a case between two such ratios is disturbed: either is far from 1. */
bool gram_reference_off(double before, double after);
