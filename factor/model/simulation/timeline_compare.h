/* SPDX-License-Identifier: MIT */
/* A simulated timeline against a measured one of the same plan: the limiter of each step, the cost
 * of each phase, and the operations whose costs are wrong.
 *
 * Several phases may cost a step about as much, and the model does not tell phases apart that
 * differ by less than a tenth of a step's time. Where the measured limiter costs less than the
 * simulated one by at most that, in the simulation, the step is a tie: neither agreement nor
 * disagreement, and counted apart. */
#pragma once

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
	size_t steps[2], same; /* same: steps of both with the same limiter */
	size_t tied;           /* two limiters that the simulation cannot tell apart */
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

/* The share of steps with the same limiter in both, and of steps that contradict each other. */
double comparison_agreement(const struct comparison *comparison);
double comparison_contradiction(const struct comparison *comparison);

/* Prints the steps (a line for several in a row with the same limiters), the phases, the `most`
 * operations that differ most, and the whole time. */
void comparison_print(const struct comparison *comparison, size_t most, FILE *out);
