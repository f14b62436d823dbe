/* SPDX-License-Identifier: MIT */
/* The executor that costs: it runs an algorithm's schedule on simulated clocks (the host's, the
 * queues') with costs from the profile, and touches no data. Every search finds its pivot in the
 * last row, so that swaps are estimated as happening. How queues share the device: simulation.h. */
#ifndef FATHOM_EXECUTOR_MODEL_H
#define FATHOM_EXECUTOR_MODEL_H

#include "factor/model/cost/cost.h"
#include "timeline.h"

enum model_target { MODEL_CUDA, MODEL_HOST };

/* level 1: alpha-beta sums (LAWN 202 eq. 2); level 2: the full model. The profile must outlive the
 * executor. Never NULL. */
struct executor *executor_model_new(
        const struct profile *profile, enum model_target target, int level);

struct model_result {
	double seconds; /* host clock after a final synchronization; NaN when a parameter is missing
	                 */
	double phase[PHASE_COUNT], term[TERM_COUNT]; /* seconds that each is owed (below); each
	                                                array sums to seconds */
	enum term limiter;                           /* the largest term */
};

/* In one queue an operation is owed what it adds to the time at which all before it is done: first
 * its own terms, because they come last, the rest is time that the host spent queueing. With more
 * queues every moment is owed to what timeline_critical says. */

/* What was run since the start, with a final synchronization; and its seconds alone, for who asks
 * often. */
struct model_result executor_model_result(struct executor *executor);
double executor_model_seconds(struct executor *executor);

/* What ran when since the start, without a final synchronization. The caller frees it; title must
 * outlive it. */
struct timeline *executor_model_timeline(struct executor *executor, const char *title);

/* Clocks back to zero; what was read from the profile is kept. overlap: a kernel's traffic runs
 * while it starts, so that it takes the longer of the two instead of their sum. */
void executor_model_restart(struct executor *executor, bool overlap);

/* Whether from now on each operation of a queue has a mark behind it, as where a recorder runs. */
void executor_model_record(struct executor *executor, bool recorded);

/* Its reader: the parameters used, and whether any was extrapolated, a rate surface, or missing. */
struct cost_reader *executor_model_reader(struct executor *executor);

/* Why what was run has no cost: a missing parameter, else the executor's own fault. */
struct fault executor_model_fault(struct executor *executor);

/* What the laws leave out (instruction fetch, the host's jitter, what operations do to each other's
 * caches): the accuracy the model claims, as a part of the time, declared before any run and tested
 * by validation, which counts how many measurements the interval covers. */
extern const double claimed_accuracy;

struct prediction {
	double seconds, low, high; /* low, high: 95 % interval propagated from the profile's */
	struct model_result parts; /* of the value */
	struct model model;        /* parameters used; extrapolated, surface, missing */
	struct fault fault;        /* why there is no prediction */
};

/* Time of panel_getrf by the named variant (of rank-1 update by the BLAS for "ger") on an m x n
 * panel whose leading dimension is m rounded up to whole lines of 128 bytes, to completion. False
 * with out->fault (and NaN) when the variant refuses the panel, is not estimated on the target, or a
 * parameter is missing.
 *
 * level 0 is the bound: the panel read and written once, at the bandwidth of the copy kernel in L2
 * or DRAM by gpu.l2.stated, of the link for the host variant, of host memory on the host. No
 * schedule: parts has one term and no phases.
 *
 * The interval adds in quadrature what the cost changes by when each parameter used lies at either
 * end of its own interval, and two structural terms, each half of the difference between two ways
 * to compute: kernel start-up and traffic adding up or overlapping; functions interpolated by
 * logarithms or linearly between their rows. */
bool model_predict(const struct profile *profile, enum model_target target, const char *variant,
        int64_t m, int64_t n, enum precision precision, int level, struct prediction *out);

/* The same with phases (bits as in executor.skip) left out. */
bool model_predict_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, int level,
        unsigned skip, struct prediction *out);

/* Its seconds alone at level 2, without the runs that an interval takes; NaN where it is false. */
double model_seconds_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, unsigned skip);

#endif
