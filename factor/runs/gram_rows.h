/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt on the host as rows of results: operation gramschmidt, executor host, the form as
 * variant (openblas: blas), threads=T in the options, and compiler=NAME when it is not the
 * project's own; k the columns that are done when they are not all. */
#ifndef FATHOM_GRAM_ROWS_H
#define FATHOM_GRAM_ROWS_H

#include "results.h"
#include "timing_gram_host.h"

/* run->loops is not looked at; compiler: NULL for the project's own. */
struct result gram_row(enum precision precision, int64_t m, int64_t n, const struct gram_run *run,
        const char *compiler);

/* Whether it is one of these; how it is run, by whose form row->variant is. */
bool results_is_host_gram(const struct result *row);
struct gram_run gram_run_of(const struct result *row);

#endif
