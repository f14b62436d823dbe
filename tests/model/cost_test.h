/* SPDX-License-Identifier: MIT */
/* What the tests of costs share. */
#pragma once

#include "tests/tap.h"

#include "factor/model/cost/cost_blocks.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static inline void add_scalar(struct profile *p, const char *name, double value)
{
	const struct parameter_spec spec = {name, "1", "synthetic", NULL, 0, 0};
	profile_add(p, &spec, NULL, 0, (struct estimate){value, value, value, 9}, false);
}

/* Seconds of the device. */
static inline double sum(const struct cost *cost)
{
	double seconds = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		seconds += cost->term[t];
	return seconds;
}

/* A test adds rows to a profile of its own and starts the reader behind them. */
typedef void cost_test(struct profile *p, struct cost_reader *r);

static inline void run_cost_tests(
        struct profile *(*new_profile)(void), cost_test *const *test, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct profile *p = new_profile();
		struct cost_reader *r = xmalloc(sizeof *r);

		test[i](p, r);
		free(r);
		profile_free(p);
	}
}
