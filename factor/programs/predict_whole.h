/* SPDX-License-Identifier: MIT */
/* Predictions of the hold-out list: whole factorizations on the GPU by a grid of plans and by the
 * model's plan (plan=model), resident and from host memory; panels of QR and Cholesky on the GPU
 * and on the host CPU. */
#pragma once

#include "lib/profile/profile.h"
#include "factor/validation/results.h"

/* Adds a row at each level for every case; returns how many cases were refused (their rows say
 * why). */
size_t predict_whole(struct results *results, const struct profile *profile, bool quick);
