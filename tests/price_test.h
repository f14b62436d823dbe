/* SPDX-License-Identifier: MIT */
/* What the tests of prices share. */
#ifndef FATHOM_TESTS_PRICE_TEST_H
#define FATHOM_TESTS_PRICE_TEST_H

#include "tap.h"

#include "../factor/model/price_blocks.h"

static inline void add_scalar(struct profile *p, const char *name, double value)
{
	const struct parameter_spec spec = {name, "1", "synthetic", NULL, 0, 0};
	profile_add(p, &spec, NULL, 0, (struct estimate){value, value, value, 9}, false);
}

/* Seconds of the device. */
static inline double sum(const struct price *price)
{
	double seconds = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		seconds += price->term[t];
	return seconds;
}

#endif
