/* SPDX-License-Identifier: MIT */
/* Which variant of the panel is predicted to be fastest, and what that choice rests on. */
#ifndef FATHOM_ADVICE_H
#define FATHOM_ADVICE_H

#include "factor/model/simulation/executor_model.h"

struct question {
	int64_t m, n;
	enum precision precision;
	bool from_host; /* the panel is in host memory and comes back there */
};

/* One way to do it, and what it costs. */
struct answer {
	enum model_target target;
	const char *variant;
	struct prediction prediction;
	bool possible;
};

enum { ADVICE_ANSWERS = 16 };

/* Every variant that applies, fastest first, those that are not possible last; without a GPU in the
 * profile only the host's. Returns their number. */
size_t advice_ask(const struct profile *profile, const struct question *question, bool has_gpu,
        struct answer answer[ADVICE_ANSWERS]);

struct sensitivity {
	/* the parameter that moves rival / choice most when it grows by 10 %; NULL: none is known
	 */
	const char *name;
	double time, lead; /* relative change of the choice's time and of rival / choice then */
	/* the parameter whose smallest change makes the rival win, and its factor to half a
	   percent; NULL: none */
	const char *tipping_name;
	double tipping;
};

/* Scales the parameters that choice and rival use, one at a time, up to 8x and down to 1/8. The
 * profile is as before when it returns. */
struct sensitivity advice_sensitivity(struct profile *profile, const struct question *question,
        const struct answer *choice, const struct answer *rival);

#endif
