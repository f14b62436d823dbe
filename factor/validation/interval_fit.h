/* SPDX-License-Identifier: MIT */
/* The factors of interval_table.c, from predictions and measurements: the number of
 * a prediction's own spreads within which 95 % of the measurements lie; where no efficiency was
 * measured, the efficiencies that 2.5 % are below, and above; 5 % below where 1 is
 * never reached. */
#pragma once

#include "errors.h"
#include "factor/model/predictions/intervals.h"

/* Whole operations of drawn shapes that were measured, by kind. */
struct interval_fit;
struct interval_fit *interval_fit_new(void);
void interval_fit_free(struct interval_fit *fit);

/* Adds the cases of one run. The predictions' intervals are by the table `used`. Each seed
 * becomes a run of its own under that machine's name, which must outlive the fit. */
void interval_fit_add(struct interval_fit *fit, const char *machine, const struct comparison *rows,
        size_t count, const struct interval_table *used);

/* A kind without cases keeps the factors of `used`. */
struct interval_table interval_fit_table(
        const struct interval_fit *fit, const struct interval_table *used);

/* The table as the source text of interval_table.c. */
void interval_table_write(const struct interval_table *table, FILE *out);
