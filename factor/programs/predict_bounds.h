/* SPDX-License-Identifier: MIT */
/* What bounds whole factorizations on the GPU, as the model simulates them: which part of the work
 * they would be done sooner without. */
#ifndef FATHOM_PREDICT_BOUNDS_H
#define FATHOM_PREDICT_BOUNDS_H

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* The benchmark's shapes (quick: small squares) by the plan that the model chooses with panels on
 * the device. A row's seconds: `seconds` of the whole; bound_s by its operations at the highest
 * rate of products, or its bytes (model_factor_predict, level 0); default_s by the plan that needs
 * no profile (plan_default.h); of the parts of the work, which are panels, updates and others
 * (exchanges of rows, triangular solves, copies): panels_s ... of a part by itself,
 * without_panels_s ... of what is left when a part takes no time. A kernel that belongs to several
 * parts is left out with each of them. What the profile does not cost has no rows. The caller
 * frees the table. */
struct table *predict_bounds(const struct profile *profile, bool quick);

#endif
