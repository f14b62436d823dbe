/* SPDX-License-Identifier: MIT */
/* Questions for the model about whole factorizations in single precision. */
#pragma once

#include "tests/tap.h"
#include "model_profile.h"

#include "factor/model/predictions/model_factor.h"

static const char *const operations[] = {"getrf", "geqrf", "potrf"};

static struct factor_question question(
        const char *operation, const struct plan *plan, int64_t m, int64_t n)
{
	if (strcmp(operation, "potrf") == 0)
		m = n;
	return (struct factor_question){.operation = operation,
	        .plan = plan,
	        .m = m,
	        .n = n,
	        .precision = SINGLE,
	        .uplo = LOWER};
}

static inline double question_seconds(
        const struct profile *p, const struct factor_question *asked, int level)
{
	struct prediction out;

	if (!model_factor_predict(p, MODEL_CUDA, asked, level, &out))
		diag("%s %d x %d: %s", asked->operation, (int)asked->m, (int)asked->n,
		        out.fault.text);
	return out.seconds;
}

static inline double seconds(const struct profile *p, const char *operation,
        const struct plan *plan, int64_t m, int64_t n, int level)
{
	const struct factor_question asked = question(operation, plan, m, n);

	return question_seconds(p, &asked, level);
}
