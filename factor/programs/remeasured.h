/* SPDX-License-Identifier: MIT */
/* Second visits of cases that a first one left unsure: what disturbed a case on a shared host may
 * last longer than its measurement, and is gone when the others are through. */
#ifndef FATHOM_REMEASURED_H
#define FATHOM_REMEASURED_H

#include "factor/validation/results.h"

/* Whether done has this case's median, but of disturbed runs, or no better than to target (relative
 * half-width of its interval; INFINITY: the former alone). Its first `kept` rows, of an earlier
 * call, are left as they are, and a long run that was the only one is not repeated. */
bool remeasure_wanted(
        const struct results *done, size_t kept, const struct result *of, double target);

/* Makes one of both visits of a case. Where only one was disturbed the other one alone counts; else
 * as of two visits of a probe's point (sample_merge in lib/host/sample.h): where one was slower than the
 * other's interval, somebody else was there, and the other one alone counts. The larger residuals
 * are kept. Returns how many cases were merged. */
size_t remeasured_merge(struct results *done, const struct results *second);

#endif
