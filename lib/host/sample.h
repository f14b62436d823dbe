/* SPDX-License-Identifier: MIT */
/* The sampling protocol: warm up by time, repeat until the median is known well enough or the time
 * is spent, discard samples whose clocks disagree, and count the discarded ones. */
#pragma once

#include "lib/base/base.h"
#include "lib/stats/stats.h"

/* One sample, filled by the measuring function. */
struct sample {
	double seconds; /* of one operation */
	double hz;      /* SM (or core) clock during this sample; 0 when the sample has none */
	bool agreed;    /* false when the sample's own clocks disagree; it is then discarded */
	double span;    /* length of the timed interval behind it, seconds: sets hz's resolution */
	bool disturbed; /* the core was clearly slow before or after it (core_noise.h) */
};

/* Takes one sample. False when measuring failed: the measurement then ends and has failed. */
typedef bool (*sample_function)(void *context, struct sample *sample);

struct sample_plan {
	double warm_seconds;             /* untimed repetition before the first sample */
	double min_seconds, max_seconds; /* of sampling */
	size_t min_samples, max_samples;
	double target; /* relative half-width of the median's interval that is good enough */
};

/* The median of the kept samples of one process. */
struct measurement {
	struct estimate seconds;
	size_t discarded;
	double hz;        /* median clock of the kept samples; NaN when there is none */
	size_t disturbed; /* discarded ones that undisturbed samples replace */
	bool throttled; /* the CPU quota was used up meanwhile (allowance.h), or hz is below 75 % of
	                 * the highest clock */
};

/* Default plan for one point of a sweep within `seconds` of time. */
struct sample_plan sample_plan_default(double seconds);

/* Runs the protocol. Discards samples that did not agree, samples whose hz is off the median hz by
 * more than 0.5 % plus resolution. A median below 75 % of max_hz (0: unknown) counts as throttled.
 * Without any sample left seconds.samples is 0 and the value NaN. Disturbed samples are discarded
 * once there are three others; their time is made up for, by up to half of max_seconds. False when
 * function failed.
 */
bool sample_run(sample_function function, void *context, const struct sample_plan *plan,
        double max_hz, struct measurement *result);

/* Two measurements of one point in a process, some time apart, as one. If one value is above the
 * other's interval there was interference: its samples count as discarded. */
struct measurement sample_merge(struct measurement first, struct measurement second);
