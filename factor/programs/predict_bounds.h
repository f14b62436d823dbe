/* SPDX-License-Identifier: MIT */
/* Bounds of whole factorizations on the GPU, simulated: the time of each part of the work alone,
 * and of the rest without it. */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* The benchmark's shapes (quick: small squares) by the model's plan with panels on the device.
 * Columns: seconds of the whole; bound_s: its operations at the highest rate of products, or its
 * bytes (model_factor_predict, level 0); default_s: by the default plan; panels_s, updates_s,
 * others_s (row swaps, triangular solves, copies): one part of the work alone; without_..._s: the
 * rest when that part takes no time. A kernel that belongs to several parts is left out with each.
 * No rows without a cost in the profile. The caller frees the table. */
struct table *predict_bounds(const struct profile *profile, bool quick);
