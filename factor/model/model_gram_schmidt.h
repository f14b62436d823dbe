/* SPDX-License-Identifier: MIT */
/* Predictions of the Gram-Schmidt process. */
#ifndef FATHOM_MODEL_GRAM_SCHMIDT_H
#define FATHOM_MODEL_GRAM_SCHMIDT_H

#include "executor_model.h"

struct gram_question {
	const char *form; /* of gram_schmidt.h */
	int64_t nb, m, n;
	enum precision precision;
	int64_t k;   /* the first k columns alone (gram_schmidt_first); 0: all */
	int threads; /* of the host; 0: as many as the profile knows */
};

/* Seconds from the call to completion, at level 1 or 2; NaN, with out->fault, when the form is
 * refused or not priced on the target, or a parameter is missing. No interval: low and high are
 * NaN. */
bool model_gram_schmidt_predict(const struct profile *profile, enum model_target target,
        const struct gram_question *asked, int level, struct prediction *out);

/* The width of blocks for which the model has the form the fastest; asked->nb is not looked at. 0
 * when it is not priced. */
int64_t model_gram_schmidt_width(
        const struct profile *profile, enum model_target target, const struct gram_question *asked);

#endif
