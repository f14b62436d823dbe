/* SPDX-License-Identifier: MIT */
/* Two profiles of one machine, parameter by parameter: whether a run can be repeated. */
#ifndef FATHOM_PROFILE_COMPARE_H
#define FATHOM_PROFILE_COMPARE_H

#include "base.h"
#include "profile.h"

/* What a family of parameters, those of one name before the brackets, came to. */
struct family_change {
	const char *name; /* points into the first profile, as worst does */
	size_t compared;  /* parameters with a value in both, noisy in neither */
	size_t noisy;     /* left out: noisy in one of them */
	size_t beyond;    /* changed by more than is allowed ... */
	size_t real;      /* ... and by more than both intervals explain */
	double median;    /* of the changes' absolute values, as fractions */
	double worst_change;
	const struct parameter *worst;
};

struct profile_changes {
	struct family_change *family;
	size_t count;
	size_t compared, noisy, beyond, real; /* of all families */
	size_t missing; /* parameters that only one of the profiles has a value of */
};

/* Changes are those of `now` against `before`: now / before - 1. From run to run a rate (B/s,
 * flop/s, Hz) may change by 3 %, everything else by 2 %. */
struct profile_changes profile_compare(const struct profile *before, const struct profile *now);
void profile_changes_free(struct profile_changes *changes);

#endif
