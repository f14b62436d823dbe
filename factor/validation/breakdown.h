/* SPDX-License-Identifier: MIT */
/* Breakdown of the time of whole factorizations by phase, against their size (LAWN 202, Figure 10):
 * the plans, and the table of each phase's share in a run, simulated or measured. */
#pragma once

#include "lib/base/table.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/model/simulation/timeline.h"

/* Panels on the device; panels on the host CPU, by the model's plan and by LAWN 202's own;
 * everything on the host. */
enum breakdown_place { PLACE_GPU, PLACE_HYBRID, PLACE_LAWN, PLACE_HOST, PLACE_COUNT };
extern const char *const breakdown_variant[PLACE_COUNT];

/* The plan for asked->operation with asked->n columns (ignores its plan): the model's or LAWN
 * 202's on the device, LAPACK's blocks of one width on the host. False when the profile does not
 * suffice, or LAWN 202 has no such plan. */
bool breakdown_choose(const struct profile *profile, const struct factor_question *asked,
        enum breakdown_place place, struct plan_choice *choice);

/* A table without rows. The caller frees it. */
struct table *breakdown_table(void);

/* Adds the rows of a run: one for each phase with work (busy_s: all of its work, critical_s: its
 * critical-path share, the rest is hidden), "idle", "plain" where plain > 0 (critical_s: the time
 * without records), and "all" (critical_s: the whole time, `seconds`). */
void breakdown_add(struct table *table, const struct factor_question *asked,
        enum breakdown_place place, const struct timeline *timeline, double plain, double seconds);

/* Whether the table has rows of this run. */
bool breakdown_has(
        const struct table *table, const struct factor_question *asked, enum breakdown_place place);

/* One line per run: time and the shares of its phases. */
void breakdown_print(const struct table *table, FILE *out);
