/* SPDX-License-Identifier: MIT */
/* Where the time of whole factorizations goes, against their size, as the model simulates them. */
#ifndef FATHOM_PREDICT_BREAKDOWN_H
#define FATHOM_PREDICT_BREAKDOWN_H

#include "../../lib/profile.h"
#include "../../lib/table.h"

/* Square matrices in single precision, with the plans that the model chooses for panels on the
 * device (gpu) and on the host (hybrid), and on the host alone (host). A row a phase with work:
 * busy_s is all of it, owed_s what it costs, the rest being hidden; phase "idle"; and a row "all",
 * whose owed_s is the whole time. What the profile does not price has no rows. The caller frees the
 * table. */
struct table *predict_breakdown(const struct profile *profile, bool quick);

#endif
