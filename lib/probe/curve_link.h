/* SPDX-License-Identifier: MIT */
/* Parameters of a link, out of the times of its transfers by size: alpha and beta of t = alpha +
 * bytes / beta, and the times themselves. */
#pragma once

#include "curve_fit.h"

enum { LINK_KEYS = 2 };

/* One series. Each combination of its keys is a line of its own. */
struct curve_link {
	const char *series, *name, *what;
	bool alpha, beta, times;     /* which rows; times: of a link without keys */
	const char *key[LINK_KEYS];  /* argument columns of the parameters; NULL beyond the last */
	double (*share)(double key); /* by the first key: of the bytes that beta counts; or NULL */
};

/* What is plausible for the link. */
struct curve_link_bounds {
	double least_seconds, most_alpha, most_seconds, least_rate, most_rate;
};

/* Adds the rows. Without keys a series without points gives failed rows. */
void curve_fit_link(const struct table *curve, struct profile *profile,
        const struct curve_link *link, const struct curve_link_bounds *bounds);
