/* SPDX-License-Identifier: MIT */
/* The model executor: it runs an algorithm's schedule on simulated clocks (the host's and the
 * queues') with costs from the profile, and touches no data. Every pivot search finds its pivot in
 * the last row, so every row swap has its cost. simulation.h: how queues share the device. */
#pragma once

#include "factor/model/cost/cost.h"
#include "level.h"
#include "timeline.h"

enum model_target { MODEL_CUDA, MODEL_HOST };

/* level 1: alpha-beta sums (LAWN 202 eq. 2); level 2: the full model. The profile must outlive the
 * executor. Never NULL. */
struct executor *executor_model_new(
        const struct profile *profile, enum model_target target, int level);

/* Another executor of the same kind, with clocks of its own and the other's reader, which must
 * outlive it. */
struct executor *executor_model_like(struct executor *executor);

struct model_result {
	double seconds; /* host clock after a final synchronization; NaN: a parameter is missing */
	double phase[PHASE_COUNT], term[TERM_COUNT]; /* critical-path shares (below) in seconds;
	                                                each array sums to `seconds` */
	enum term limiter;                           /* the largest term */
};

/* Critical-path shares. In one queue an operation's share is the time that it adds to the end of
 * all operations before it: first its own terms, which come last, and the rest is the host
 * queueing. With several queues timeline_critical attributes every moment. */

/* The result of all operations since the start, with a final synchronization; its seconds alone are
 * cheaper. Both contain what lasting load adds. */
struct model_result executor_model_result(struct executor *executor);
double executor_model_seconds(struct executor *executor);

/* The seconds at the clock of short runs, as the timeline has them. */
double executor_model_clock(struct executor *executor);

/* What runs is a factorization with such updates: lasting load makes it slower
 * (factor/model/law/law_lasting.h). */
void executor_model_lasting(struct executor *executor, enum precision precision, enum math math);

/* The timeline since the start, without a final synchronization. The caller frees it; title must
 * outlive it. */
struct timeline *executor_model_timeline(struct executor *executor, const char *title);

/* Sets the clocks to zero; values read from the profile are kept. overlap: a kernel's traffic runs
 * while it starts, so the longer of the two counts instead of their sum. */
void executor_model_restart(struct executor *executor, bool overlap);

/* Whether from now on a mark follows each operation of a queue, as under a recorder. */
void executor_model_record(struct executor *executor, bool recorded);

/* Its reader: the parameters used, and whether one was extrapolated, from a surface, or missing. */
struct cost_reader *executor_model_reader(struct executor *executor);

/* Why the run has no cost: a missing parameter, else the executor's own fault. */
struct fault executor_model_fault(struct executor *executor);

struct prediction {
	double seconds, low, high; /* low, high: 95 % interval propagated from the profile's */
	double below, above;       /* seconds to its ends by the parameters' intervals alone */
	struct model_result parts; /* of the value */
	struct model model;        /* parameters used; extrapolated, surface, missing */
	struct fault fault;        /* why there is no prediction */
};

/* Time of panel_getrf by the named variant ("ger": a rank-1 update by the BLAS) on an m x n panel,
 * to completion; the leading dimension is m rounded up to lines of 128 bytes. False with out->fault
 * (and NaN) when the variant refuses the panel or has no cost on the target, or a parameter is
 * missing. Level 0 is the bound: the panel read and written once, at the bandwidth of the copy
 * kernel in L2 or DRAM, of the link (host variant) or of host memory. Its parts are one term and no
 * phases.
 *
 * The interval adds several changes of the time in quadrature. Each parameter used is moved to
 * either end of its own interval, a surface also by the spread of its efficiency. Two structural
 * terms are each half of the difference between two ways to compute: kernel start-up and traffic
 * added or overlapped; interpolation by logarithms or linear. intervals.h has the last step. */
bool model_predict(const struct profile *profile, enum model_target target, const char *variant,
        int64_t m, int64_t n, enum precision precision, int level, struct prediction *out);

/* model_predict with phases (bits as in executor.skip) left out. */
bool model_predict_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, int level,
        unsigned skip, struct prediction *out);

/* Its seconds at level 2, without the runs for an interval; NaN where model_predict is false. */
double model_seconds_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, unsigned skip);

/* The same, asked again and again. The reader may change its profile between. */
struct model_panel *model_panel_new(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, unsigned skip);
double model_panel_seconds(struct model_panel *);
struct cost_reader *model_panel_reader(struct model_panel *);
void model_panel_free(struct model_panel *);
