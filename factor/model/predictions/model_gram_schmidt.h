/* SPDX-License-Identifier: MIT */
/* Predictions of the Gram-Schmidt process and of its kernels. */
#pragma once

#include "factor/algorithms/gram_kernel.h"
#include "factor/model/simulation/executor_model.h"

struct gram_question {
	const char *form; /* of gram_schmidt_kernels.h */
	int64_t nb, m, n;
	enum precision precision;
	int64_t lda; /* 0: m */
	int64_t k;   /* the first k columns alone (gram_schmidt_first); 0: all */
	int threads; /* of the host; 0: as many as the profile knows */
};

/* Seconds from the call to completion at level 0, 1 or 2; NaN, with out->fault, when the form is
 * refused or has no cost on the target, or a parameter is missing. Level 0: the operations at the
 * peak rate, or one pass over memory for each column (forms in blocks: one in all). Without
 * `interval` low and high are NaN at levels 1 and 2. */
bool model_gram_schmidt_predict(const struct profile *profile, enum model_target target,
        const struct gram_question *asked, int level, bool interval, struct prediction *out);

/* Seconds of a call of a kernel on the GPU, with its interval. */
bool model_gram_kernel_predict(const struct profile *profile, const struct gram_kernel *kernel,
        int level, struct prediction *out);

/* The width of blocks with the least predicted time; asked->nb is not read. 0 when there is none:
 * blocks of GRAM_NARROWEST then say why. */
enum { GRAM_NARROWEST = 4 };
int64_t model_gram_schmidt_width(
        const struct profile *profile, enum model_target target, const struct gram_question *asked);
