/* SPDX-License-Identifier: MIT */
/* Candidate screening: which of many plans for one problem are timed, by a run or two of each. */
#pragma once

#include "measure.h"

/* Of every kind (variant, math, place of the matrix) the plans near the best stay in row[0 .. n),
 * with the seconds of the screening; the others go to `rejected`, with a note. Returns how many
 * stay.
 */
size_t screening_choose(const struct measure *measure, struct executor *executor,
        struct result *row, size_t n, struct results *rejected);
