/* SPDX-License-Identifier: MIT */
/* The variant of the panel that is predicted to be fastest, and the parameters behind that choice.
 */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "sensitivity.h"

struct question {
	int64_t m, n;
	enum precision precision;
	bool from_host; /* the panel is in host memory and comes back there */
};

/* A variant and its prediction. */
struct answer {
	enum model_target target;
	const char *variant;
	struct prediction prediction;
	bool possible;
};

enum { ADVICE_ANSWERS = 16 };

/* Predicts every variant that applies, fastest first and the impossible ones last; without a GPU in
 * the profile only the host's. Returns their number. */
size_t advice_ask(const struct profile *profile, const struct question *question, bool has_gpu,
        struct answer answer[ADVICE_ANSWERS]);

/* sensitivity_of a choice and the next best one. */
struct sensitivity advice_sensitivity(const struct profile *profile,
        const struct question *question, const struct answer *choice, const struct answer *rival);
