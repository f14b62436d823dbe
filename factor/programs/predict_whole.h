/* SPDX-License-Identifier: MIT */
/* Predictions of whole factorizations of the hold-out list on the GPU: the grid of plans, and the
 * plan that the model chooses, which has plan=chosen among its options, resident and from host
 * memory; and of panels of QR and Cholesky, on the GPU and on the host CPU. */
#ifndef FATHOM_PREDICT_WHOLE_H
#define FATHOM_PREDICT_WHOLE_H

#include "lib/profile/profile.h"
#include "factor/validation/results.h"

/* Adds a row at each level for every case; returns how many cases were refused (their rows say
 * why). */
size_t predict_whole(struct results *results, const struct profile *profile, bool quick);

#endif
