/* SPDX-License-Identifier: MIT */
/* Rows of made-up profiles. */
#pragma once

#include "lib/base/msg.h"
#include "lib/profile/model.h"
#include "tests/profile_rows.h"

static inline struct estimate about(double value, double relative)
{
	double half = fabs(value) * relative;

	return (struct estimate){value, value - half, value + half, 30};
}

static inline void add(struct profile *profile, const char *name, const struct arg *args,
        size_t count, struct estimate estimate)
{
	const struct parameter_spec spec = {.name = name, .unit = "s", .method = "test"};

	profile_add(profile, &spec, args, count, estimate, false);
}

static inline void add_at(
        struct profile *profile, const char *name, const char *arg, double x, double y)
{
	const struct arg at = {arg, x};

	add(profile, name, &at, 1, about(y, 0.01));
}

static inline struct lookup get_at(
        const struct profile *profile, const char *name, const char *arg, double x)
{
	const struct arg at = {arg, x};

	return profile_get(profile, name, &at, 1);
}
