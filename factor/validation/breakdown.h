/* SPDX-License-Identifier: MIT */
/* Where the time of whole factorizations goes, against their size (LAWN 202, Figure 10): the plans
 * that are looked at, and the table of what each phase costs in a run, simulated or measured. */
#ifndef FATHOM_BREAKDOWN_H
#define FATHOM_BREAKDOWN_H

#include "lib/base/table.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/model/simulation/timeline.h"

/* Where the panels are: on the device, on the host CPU; all of it on the host. */
enum breakdown_place { PLACE_GPU, PLACE_HYBRID, PLACE_HOST, PLACE_COUNT };
extern const char *const breakdown_variant[PLACE_COUNT];

/* Of asked->operation with asked->n columns; its plan is not used. The model's choice on the
 * device, LAPACK's blocks of one width on the host. False when the profile does not suffice. */
bool breakdown_choose(const struct profile *profile, const struct factor_question *asked,
        enum breakdown_place place, struct plan_choice *choice);

/* A table without rows. The caller frees it. */
struct table *breakdown_table(void);

/* A run's rows follow each other: one a phase with work, busy_s being all of it, critical_s what it
 * costs, the rest being hidden; phase "idle"; "plain" (where plain > 0), whose critical_s is what the
 * run takes when nobody records it; and "all", whose critical_s is the whole time, `seconds`. */
void breakdown_add(struct table *table, const struct factor_question *asked,
        enum breakdown_place place, const struct timeline *timeline, double plain, double seconds);

/* Whether the table has rows of this run. */
bool breakdown_has(
        const struct table *table, const struct factor_question *asked, enum breakdown_place place);

/* One line a run: time and the shares that the phases cost. */
void breakdown_print(const struct table *table, FILE *out);

#endif
