/* SPDX-License-Identifier: MIT */
/* The Gram-Schmidt process as cases: rows, the held-out list, predictions. */
#ifndef FATHOM_GRAM_CASES_H
#define FATHOM_GRAM_CASES_H

#include "lib/profile/profile.h"
#include "factor/validation/results.h"

/* A form as a row has it: cublas and openblas are the blas form. shape: NXxNY of the paper's
 * kernels, NULL for the one that suits most. */
struct gram_way {
	const char *variant;
	int64_t nb;
	const char *shape;
};

bool results_is_gram(const struct result *row);

/* A row without results; its form for gram_schmidt_kernels.h. */
struct result gram_case(const struct gram_way *way, const char *executor, enum precision precision,
        int64_t m, int64_t n);
void gram_form(const struct result *row, char form[32]);

/* Fills seconds and regime with the prediction at a level, for the row's executor; interval: with
 * its interval. False with the row's note. */
bool gram_predict(const struct profile *profile, int level, bool interval, struct result *row);

/* Adds the predictions of the executor's held-out list at three levels, shapes off the powers of
 * two; returns how many cases were refused. */
size_t predict_gram(
        struct results *results, const struct profile *profile, const char *executor, bool quick);

#endif
