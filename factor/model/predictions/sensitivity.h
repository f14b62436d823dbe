/* SPDX-License-Identifier: MIT */
/* The parameters behind a choice: which one it follows most, and which one makes the next best
 * answer win. Hardware comes first: a timing is named only where no hardware row says as much. */
#pragma once

#include "lib/profile/model.h"

struct sensitivity {
	/* the parameter that changes the ratio rival / choice most when it grows by 10 %; NULL:
	   none */
	const char *name;
	bool timing;       /* it times kernels or calls: no hardware row */
	double time, lead; /* the relative changes of the choice's time and of that ratio */
	/* the parameter whose smallest change makes the rival win, and its factor to half a
	   percent; NULL: none */
	const char *tipping_name;
	bool tipping_timing;
	double tipping;
};

/* A choice (0) and the next best answer (1), each with the parameters that it and the hardware law
 * behind its timings read (NULL: none), and its seconds. */
struct rivals {
	const struct profile *profile;
	/* From now on this profile answers, in which rows of `name` have changed. */
	void (*change)(const void *context, const struct profile *, const char *name);
	double (*seconds_of)(const void *context, int rival);
	/* Whether an answer read values of the parameter at single points; NULL: none. */
	bool (*read_at)(const void *context, const char *name);
	const void *context;
	const struct model *model[2], *law[2];
	double seconds[2];
};

/* Scales the parameters of both, one at a time, up to 8 times and down to 1/8. Times of known work
 * follow the hardware law at the same efficiency. */
struct sensitivity sensitivity_of(const struct rivals *rivals);
