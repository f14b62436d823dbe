/* SPDX-License-Identifier: MIT */
/* The comparisons as tables: validation.tsv (families), errors.tsv (rows), and the text of
 * `validate`. */
#pragma once

#include "errors.h"

#include <stdio.h>

/* One row per family, executor, regime and level, then "all" per executor, regime ("any" first) and
 * level. */
struct table *errors_family_table(const struct comparison *rows, size_t count);

/* One row per prediction, with its verdict. */
struct table *errors_row_table(const struct comparison *rows, size_t count);

/* Bad cases (at most `most`, the worst first), skipped cases by reason, families and totals,
 * ranking and regret, phases. */
void errors_print(const struct comparison *rows, size_t count, size_t most, FILE *out);
