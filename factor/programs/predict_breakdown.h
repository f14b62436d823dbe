/* SPDX-License-Identifier: MIT */
/* Simulated breakdown of the time of whole factorizations by phase, against their size. */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* The table of breakdown.h for square matrices in single precision, in every place. No rows without
 * a cost in the profile. The caller frees the table. */
struct table *predict_breakdown(const struct profile *profile, bool quick);
