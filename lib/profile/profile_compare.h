/* SPDX-License-Identifier: MIT */
/* Two profiles of one machine, parameter by parameter: repeatability. */
#pragma once

#include "lib/base/base.h"
#include "profile.h"

/* Kinds of parameters, with the change that is allowed. A surface is the time of whole library
 * calls and kernels, which the model interpolates: it is no property of the hardware, and has no
 * limit. */
enum change_kind {
	CHANGE_LATENCY,   /* s, cycle: 2 % */
	CHANGE_SIZE,      /* B, count: 2 % */
	CHANGE_BANDWIDTH, /* B/s, and flop/s and Hz: 3 % */
	CHANGE_OTHER,     /* ratio, W: 2 % */
	CHANGE_SURFACE,   /* counted, but not judged */
	CHANGE_KINDS
};
extern const char *const change_kind_name[CHANGE_KINDS];

/* The changes of a family of parameters (one name before the brackets), or of a group of families:
 * one kind in one part of the machine. */
struct family_change {
	const char *name; /* of a group: its part, gpu, link or host; a text of the first profile */
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
	size_t missing;                       /* parameters with a value in only one profile */
	size_t noisy_before, noisy_now;       /* noisy parameters of each */
};

/* Changes are those of `now` against `before`: now / before - 1. */
struct profile_changes profile_compare(const struct profile *before, const struct profile *now);
void profile_changes_free(struct profile_changes *changes);

/* The change that a parameter's unit allows. */
double change_allowed(const char *unit);

/* Whether no change is beyond the limit of its kind; and, for both runs, whether the number of
 * noisy parameters is at most most_noisy. */
bool change_repeats(const struct family_change *change);
bool profile_changes_repeat(const struct profile_changes *changes);
extern const size_t most_noisy;
