/* SPDX-License-Identifier: MIT */
/* Predictions as rows. */
#pragma once

#include "lib/profile/profile.h"
#include "factor/model/simulation/executor_model.h"
#include "results.h"

/* Fills a row's seconds and regime, and the note: why there is no good prediction, or which costs
 * are of a simpler law. Returns good. */
bool predicted_fill(struct result *row, const struct prediction *made, bool good);

/* Fills a row with its prediction at a level; false with its note. */
typedef bool (*row_predictor)(const struct profile *profile, int level, struct result *row);

/* Adds the row's predictions at levels 2, 1 and 0. Returns 1 when level 2 was refused, else 0. */
size_t predicted_levels(struct results *results, const struct profile *profile,
        const struct result *row, row_predictor predict);

/* The same for all rows, which are freed; returns how many were refused. */
size_t predicted_all(struct results *results, const struct profile *profile, struct result *rows,
        size_t count, row_predictor predict);
