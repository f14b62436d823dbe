/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt on the host as rows of results: operation gramschmidt, executor host, the form as
 * variant (openblas: blas), threads=T in the options, and compiler=NAME when it is not the
 * project's own; k the columns that are done when they are not all. */
#ifndef FATHOM_GRAM_ROWS_H
#define FATHOM_GRAM_ROWS_H

#include "lib/profile/profile.h"
#include "factor/validation/results.h"
#include "timing_gram_host.h"

/* run->loops is not looked at; compiler: NULL for the project's own. */
struct result gram_row(enum precision precision, int64_t m, int64_t n, const struct gram_run *run,
        const char *compiler);

/* Whether it is one of these; how it is run, by whose form row->variant is. */
bool results_is_host_gram(const struct result *row);
struct gram_run gram_run_of(const struct result *row);

/* What the model says of such a row, at a level: fills seconds and regime, or the note. Rows of the
 * project's own compiler only. */
bool gram_row_predict(const struct profile *profile, int level, struct result *row);

/* Threads that the profile's largest team has, 1 when it has none; the model's width of blocks. */
int gram_threads(const struct profile *profile);
int64_t gram_width(const struct profile *profile, enum precision precision, int64_t m, int64_t n,
        int64_t k, int threads);

/* Adds the predictions of the held-out list at three levels: all threads, some also by one, sizes
 * off the powers of two, and a matrix that the last cache does not hold. Returns how many cases
 * were refused. */
size_t predict_gram_host(struct results *results, const struct profile *profile, bool quick);

#endif
