/* SPDX-License-Identifier: MIT */
/* Re-measurement: disturbed cases, then cases known too imprecisely, are measured again at the end.
 * On a shared host a disturbance may last longer than one measurement. */
#pragma once

#include "factor/validation/results.h"

/* Whether the case was measured, but by disturbed runs, or with an interval whose relative
 * half-width exceeds target (INFINITY: only disturbed ones). Never for the first `kept` rows, of an
 * earlier call, nor for a single long run. */
bool remeasure_wanted(
        const struct results *done, size_t kept, const struct result *of, double target);

/* Merges both measurements of each case. If one of them is disturbed, the other counts; else
 * sample_merge (lib/host/sample.h) combines them: one that is slower than the other's interval is
 * dropped. Keeps the larger residuals. Returns how many cases were merged. */
size_t remeasured_merge(struct results *done, const struct results *second);
