/* SPDX-License-Identifier: MIT */
/* Times several ways to do one operation on the same random panel, in turns, so that drift of the
 * machine hits all alike. The input is restored by a device copy before every run (so the L2 or
 * cache is warm), outside of what is timed; the time is the host's, from call to completion, on an
 * idle device. */
#ifndef FATHOM_TIMING_H
#define FATHOM_TIMING_H

#include "../lib/stats.h"
#include "executor.h"

#include <signal.h>

/* The operation under test: on the panel a, to completion. For ger, x (m x 1) and y (1 x n) are its
 * vectors. */
struct timing_problem {
	struct matrix a, x, y;
	struct pivots pivots;
};

struct contender {
	/* set by the caller */
	bool (*run)(struct contender *contender, const struct timing_problem *problem,
	        struct fault *fault);
	/* once, ahead of everything (NULL: nothing): memory. False means refused */
	bool (*prepare)(struct contender *contender, const struct timing_problem *problem,
	        struct fault *fault);
	/* ahead of every run, not timed (NULL: nothing): what a phase alone needs from the others
	 */
	bool (*before)(struct contender *contender, const struct timing_problem *problem,
	        struct fault *fault);
	void *context; /* executor, vendor ... */
	const char *variant;
	unsigned skip; /* phases left out; the result is then not checked */
	bool ger;      /* rank-1 update instead of a factorization */
	/* results */
	struct estimate seconds; /* no samples: refused or failed */
	double residual;         /* LAPACK's test ratio, the check passes below 30 */
	bool refused, failed;    /* note says why */
	char note[512];
	/* used inside */
	void *work;
	double *sample;
	size_t samples;
	double spent;
	bool done;
};

struct timing_plan {
	double warm_seconds, max_seconds; /* per contender */
	double target; /* relative half-width of the median's interval that suffices */
	uint64_t seed;
	int64_t ld;                        /* > = m */
	const volatile sig_atomic_t *stop; /* set by a signal: give up */
};

/* Ready-made contenders: a variant of the panel or ger on an executor. */
struct contender contender_panel(struct executor *executor, const char *variant, unsigned skip);
struct contender contender_ger(struct executor *executor);

/* Fills the results of all contenders. False with a fault when nothing could be timed (out of
 * memory) or when stopped. */
bool timing_run(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct contender *contender, size_t count,
        struct fault *fault);

#endif
