/* SPDX-License-Identifier: MIT */
/* The sampling protocol: warm up by time, repeat until the median is known well enough or the time
 * is spent, discard samples whose clocks disagree, and count what was discarded. */
#ifndef FATHOM_SAMPLE_H
#define FATHOM_SAMPLE_H

#include "lib/base/base.h"
#include "lib/stats/stats.h"

/* One sample, filled by the measuring function. */
struct sample {
	double seconds; /* of one operation */
	double hz;      /* SM (or core) clock during this sample; 0 when the sample has none */
	bool agreed;    /* false when the sample's own clocks disagree; it is then discarded */
	double span;    /* length of the timed interval behind it, seconds: sets hz's resolution */
	bool disturbed; /* a core did clearly less for us than usual, before or after
	                 * (lib/host/core_noise.h)
	                 */
};

/* Takes one sample. Returns false when measuring itself failed (the measurement then ends, failed).
 */
typedef bool (*sample_function)(void *context, struct sample *sample);

struct sample_plan {
	double warm_seconds; /* untimed repetition before the first sample */
	double min_seconds;  /* sample at least this long ... */
	double max_seconds;  /* ... and at most this long */
	size_t min_samples, max_samples;
	double target; /* stop when the relative half-width of the median's interval is below this
	                */
};

/* What is left of the samples: the median over one process. */
struct measurement {
	struct estimate seconds;
	size_t discarded;
	double hz;        /* median clock of the kept samples; NaN when there is none */
	size_t disturbed; /* of the discarded ones: other samples had the core for themselves */
	bool throttled;   /* the CPU quota was used up meanwhile (allowance.h) */
};

/* Default plan for one point of a sweep within `seconds` of time. */
struct sample_plan sample_plan_default(double seconds);

/* Runs the protocol. Samples whose hz is off the median hz by more than 0.5 % plus resolution, or
 * below 75 % of max_hz (throttled; max_hz 0 = unknown), or that did not agree, are discarded. When
 * none is left seconds.samples is 0 and the value NaN. Disturbed samples are discarded as soon as
 * three others are there, and their time is made up for, up to half of max_seconds more. False when
 * function failed. */
bool sample_run(sample_function function, void *context, const struct sample_plan *plan,
        double max_hz, struct measurement *result);

/* Two visits of one point in a process, some time apart. Where one is slower than the other's
 * interval says somebody else was there: its samples count as discarded. Otherwise both are one. */
struct measurement sample_merge(struct measurement first, struct measurement second);

#endif
