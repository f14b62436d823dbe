/* SPDX-License-Identifier: MIT */
/* Arithmetic with estimates: values with an interval and a number of samples (struct estimate). */
#pragma once

#include "lib/base/base.h"
#include "stats.h"

#include <math.h>

/* Not measured. */
static const struct estimate estimate_none = {NAN, NAN, NAN, 0};

/* A value without error. */
static inline struct estimate estimate_exact(double value, size_t samples)
{
	return (struct estimate){value, value, value, samples};
}

static inline struct estimate estimate_around(double value, double half_width, size_t samples)
{
	return (struct estimate){value, value - half_width, value + half_width, samples};
}

/* No value, only bounds; NaN where a side is open. */
static inline struct estimate estimate_between(double low, double high, size_t samples)
{
	return (struct estimate){NAN, low, high, samples};
}

static inline double estimate_half_width(struct estimate e)
{
	return (e.high - e.low) / 2;
}

/* factor * e, for factor > 0. */
static inline struct estimate estimate_times(struct estimate e, double factor)
{
	return (struct estimate){e.value * factor, e.low * factor, e.high * factor, e.samples};
}

/* constant / e, for constant > 0. */
static inline struct estimate estimate_inverse(double constant, struct estimate e)
{
	return (struct estimate){constant / e.value, constant / e.high,
	        e.low > 0 ? constant / e.low : INFINITY, e.samples};
}
