/* SPDX-License-Identifier: MIT */
/* A simulated timeline against a measured one of the same plan: who limits each step, what each
 * phase costs, and which operations' costs are off.
 *
 * Several phases may cost a step about as much. The model claims claimed_accuracy of a step's time
 * and no more: where the measured limiter costs less than the simulated one by no more than that,
 * in the simulation, it has not told the two apart, and the step is a tie. Ties are neither
 * agreement nor disagreement and are counted apart. */
#ifndef FATHOM_TIMELINE_COMPARE_H
#define FATHOM_TIMELINE_COMPARE_H

#include "timeline.h"

/* All operations of one name in one lane; the host's queueing is none. */
struct operation_sum {
	const char *operation;
	enum lane lane;
	size_t entries[2];
	double seconds[2]; /* simulated, measured; whatever runs beside them */
};

enum { COMPARED_STEPS = 4096, COMPARED_SUMS = 128 };

/* In every pair the first is simulated, the second measured. */
struct comparison {
	double seconds[2];
	size_t steps[2], same; /* same: steps that both have, with one limiter */
	size_t tied;           /* with two that the simulation does not tell apart */
	struct step step[2][COMPARED_STEPS];
	double busy[2][PHASE_COUNT]; /* share of the whole time */
	double exposed[2][CRITICAL_COUNT];
	double worst; /* largest difference of a phase's exposed shares */
	struct operation_sum sum[COMPARED_SUMS]; /* largest difference first */
	size_t sums;
};

/* The caller frees it with free. */
struct comparison *timeline_compare(
        const struct timeline *simulated, const struct timeline *measured);

/* Share of the steps that have one limiter in both, and of those that contradict each other. */
double comparison_agreement(const struct comparison *comparison);
double comparison_contradiction(const struct comparison *comparison);

/* Steps (those in a row with the same limiters in one line), phases, the `most` operations that
 * differ most, whole time. */
void comparison_print(const struct comparison *comparison, size_t most, FILE *out);

#endif
