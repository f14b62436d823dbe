/* SPDX-License-Identifier: MIT */
/* The comparisons as tables: validation.tsv (families), errors.tsv (rows), and the text of
 * `validate`. */
#pragma once

#include "errors.h"

#include <stdio.h>

extern const char *const errors_shapes_name[]; /* by enum shapes */

/* One row per family, executor, kind of shapes (drawn first), regime and level, then "all" per kind
 * of shapes, executor, regime ("any" first) and level. */
struct table *errors_family_table(const struct comparison *rows, size_t count);

/* One row per prediction, with its verdict. */
struct table *errors_row_table(const struct comparison *rows, size_t count);

/* Reads the cases of drawn shapes with the full model and by the hardware alone from such
 * a table as predictions and measurements; those of `seed` not. */
void errors_earlier(const struct table *errors, int64_t seed, struct results *predictions,
        struct results *measurements);

/* The verdict on drawn shapes, apart from fixed ones. Bad cases (at most `most`, the worst first),
 * skipped cases by reason, families and totals, ranking and regret, phases. */
void errors_print(const struct comparison *rows, size_t count, size_t most, FILE *out);
