/* SPDX-License-Identifier: MIT */
/* Where the time of whole factorizations goes, against their size, as the model simulates them. */
#ifndef FATHOM_PREDICT_BREAKDOWN_H
#define FATHOM_PREDICT_BREAKDOWN_H

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* Square matrices in single precision, in every place (breakdown.h), whose table this is. What the
 * profile does not cost has no rows. The caller frees the table. */
struct table *predict_breakdown(const struct profile *profile, bool quick);

#endif
