/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's kernels (gram_kernel.h) as cases: shapes of blocks of threads, the hold-out list,
 * predictions, measurements. */
#pragma once

#include "lib/profile/profile.h"
#include "factor/algorithms/gram_kernel.h"
#include "factor/validation/draw.h"
#include "factor/validation/timing.h"

#include <stdio.h>

/* Whether a row is one: operation gram_dots, gram_update, gram_fused (variants direct, shared,
 * wide, atomic with the option shape=NXxNY; own) or gram_apply (single, together; k), plan calls=N.
 */
bool results_is_gram_kernel(const struct result *row);
struct gram_kernel gram_kernel_of(const struct result *row);

/* Rows without results, of the benchmark and of the hold-out list, fixed or drawn. all: every shape
 * of the paper's kernels, dot products also by atomic additions; of fewer rows than columns the
 * blocked update and the same column by column; else a few shapes of the orthogonalization alone.
 * The caller frees *rows. */
size_t gram_kernels_documented(int64_t m, int64_t n, bool all, struct result **rows);
size_t gram_kernels_held_out(bool quick, const struct draw *draw, struct result **rows);

/* Fills a row's seconds and regime with the prediction at a level; false with its note. */
bool gram_kernel_predict(const struct profile *profile, int level, struct result *row);

/* Adds the predictions of the hold-out list at three levels; returns how many were refused. */
size_t predict_gram_kernels(struct results *results, const struct profile *profile, bool quick,
        const struct draw *draw);

/* Fills seconds (of one call) and residual of a candidate for each of `count` kernels, all of one
 * shape of matrix and precision. */
bool timing_gram_kernels(struct executor *executor, const struct gram_kernel *kernel,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault);

/* Prints the fastest shape of each kernel and number of columns, and its rate. */
void gram_kernels_print(const struct results *results, FILE *out);
