/* SPDX-License-Identifier: MIT */
/* Two profiles of one machine, parameter by parameter: whether a run can be repeated. */
#ifndef FATHOM_PROFILE_COMPARE_H
#define FATHOM_PROFILE_COMPARE_H

#include "lib/base/base.h"
#include "profile.h"

/* What a parameter is. A surface is the time of whole library calls and kernels, which the model
 * interpolates: it is no property of the hardware, and no bar is set for it. */
enum change_kind {
	CHANGE_LATENCY,   /* s, cycle: 2 % */
	CHANGE_SIZE,      /* B, count: 2 % */
	CHANGE_BANDWIDTH, /* B/s, and flop/s and Hz: 3 % */
	CHANGE_OTHER,     /* ratio, W: 2 % */
	CHANGE_SURFACE,   /* judged as nothing, counted as the rest */
	CHANGE_KINDS
};
extern const char *const change_kind_name[CHANGE_KINDS];

/* What a family of parameters, those of one name before the brackets, came to; or a group of
 * families: one kind in one part of the machine. */
struct family_change {
	const char *name; /* of a group its part, gpu, link or host; into the first profile */
	enum change_kind kind;
	double allowed;  /* change, as a fraction */
	size_t compared; /* parameters with a value in both, noisy in neither */
	size_t noisy;    /* left out: noisy in one of them */
	size_t beyond;   /* changed by more than is allowed ... */
	size_t real;     /* ... and by more than both intervals explain */
	double median;   /* of the changes' absolute values, as fractions */
	double worst_change;
	const struct parameter *worst;
};

struct profile_changes {
	struct family_change *family, *group;
	size_t count, group_count;
	size_t compared, noisy, beyond, real; /* of all families */
	size_t missing; /* parameters that only one of the profiles has a value of */
	size_t noisy_before, noisy_now; /* parameters of each */
};

/* Changes are those of `now` against `before`: now / before - 1. */
struct profile_changes profile_compare(const struct profile *before, const struct profile *now);
void profile_changes_free(struct profile_changes *changes);

/* Whether none of a kind that a bar is set for is beyond it; and, for both runs, whether no more
 * parameters are noisy than may be. */
bool change_repeats(const struct family_change *change);
bool profile_changes_repeat(const struct profile_changes *changes);
extern const size_t most_noisy;

#endif
