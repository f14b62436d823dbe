/* SPDX-License-Identifier: MIT */
/* The parameters behind a choice: which one it follows most, and which one makes the next best
 * answer win. */
#pragma once

#include "lib/profile/model.h"

struct sensitivity {
	/* the parameter that changes the ratio rival / choice most when it grows by 10 %; NULL:
	   none */
	const char *name;
	double time, lead; /* the relative changes of the choice's time and of that ratio */
	/* the parameter whose smallest change makes the rival win, and its factor to half a
	   percent; NULL: none */
	const char *tipping_name;
	double tipping;
};

/* A choice (0) and the next best answer (1), each with the parameters it read and its seconds. */
struct rivals {
	const struct profile *profile;
	/* Seconds of one of them from the profile, in which only `changed` is scaled. */
	double (*seconds_of)(
	        const struct profile *profile, const void *context, int rival, const char *changed);
	const void *context;
	const struct model *model[2];
	double seconds[2];
};

/* Scales the parameters of both, one at a time, up to 8 times and down to 1/8. */
struct sensitivity sensitivity_of(const struct rivals *rivals);
