/* SPDX-License-Identifier: MIT */
/* LU panels, and rank-1 updates of them, as timed problems: a random panel, checked on the host. */
#pragma once

#include "timing.h"

/* A variant of the panel, without the phases of `skip` (bits), or ger on an executor. */
struct candidate candidate_panel(struct executor *executor, const char *variant, unsigned skip);
struct candidate candidate_ger(struct executor *executor);

/* Fills the results of all candidates. False with a fault when nothing could be timed (out of
 * memory) or when stopped. */
bool timing_panel(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault);
