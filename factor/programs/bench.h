/* SPDX-License-Identifier: MIT */
/* The table of `measure --bench`: one line a shape, one column a variant, and ratios. */
#ifndef FATHOM_BENCH_H
#define FATHOM_BENCH_H

#include "factor/validation/results.h"

#include <stdio.h>

/* The variants compared on an executor, NULL-terminated; the first is the one the others are
 * compared with. */
const char *const *bench_variants(const char *executor);

/* Panels: microseconds of every variant and the ratio of each to the first, per shape. Parts:
 * microseconds, rate and estimate of every way. Whole factorizations: Gflop/s of the best row of
 * ours, the vendor and the host, and ratios to the vendor; what each optimization is worth;
 * Cholesky's upper triangle. In the order of the rows. */
void bench_print(const struct results *results, FILE *out);

#endif
