/* SPDX-License-Identifier: MIT */
/* What the tests of costs share. */
#ifndef FATHOM_TESTS_PRICE_TEST_H
#define FATHOM_TESTS_PRICE_TEST_H

#include "tests/tap.h"

#include "factor/model/cost/cost_blocks.h"

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

#endif
