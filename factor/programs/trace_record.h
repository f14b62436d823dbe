/* SPDX-License-Identifier: MIT */
/* The factorization and the plan of a file of timelines. */
#pragma once

#include "lib/base/table.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/validation/whole.h"

/* Triangle and plan into the table's metadata. */
void trace_record_describe(struct table *table, const struct whole *whole, const struct plan *plan);

/* The folder's file of this factorization, by any plan. NULL with a fault when there is none, or
 * its metadata has no plan. The caller frees it. */
struct table *trace_record_find(
        const char *folder, const struct factor_question *asked, struct fault *fault);

/* The plan of a file; whether the file has this plan. */
void trace_record_plan(const struct table *record, struct whole_plan *plan);
bool trace_record_is_of(
        const struct table *record, const struct whole *whole, const struct plan *plan);
