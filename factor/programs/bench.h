/* SPDX-License-Identifier: MIT */
/* The tables of `measure --bench`. */
#pragma once

#include "factor/validation/results.h"

#include <stdio.h>

/* The variants compared on an executor, NULL-terminated; ratios are to the first. */
const char *const *bench_variants(const char *executor);

/* Panels: microseconds of every variant and its ratio to the first, per shape. LAWN 202's
 * operations: microseconds, rate and estimate of every way. Whole factorizations: Gflop/s of the
 * best row of ours, the vendor and the host, and speedups over the vendor; LAWN 202's own plans;
 * ablations; Cholesky's
 * upper triangle; errors; widths by stages; Gram-Schmidt. In the order of the rows. */
void bench_print(const struct results *results, FILE *out);
