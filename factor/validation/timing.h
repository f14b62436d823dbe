/* SPDX-License-Identifier: MIT */
/* Times several ways to do one operation on the same data, in turns, so that drift of the machine
 * hits all alike. The input is restored before every run (by a copy: the L2 or cache is warm),
 * outside of what is timed; the time is the host's, from call to completion, on an idle device.
 * Runs before or after which the calling thread's core did clearly less than usual are discarded as
 * soon as there are enough others, as the probes' samples are; where there never are, the time is
 * theirs, and says so unless the others take as long. */
#ifndef FATHOM_TIMING_H
#define FATHOM_TIMING_H

#include "lib/host/core_noise.h"
#include "lib/stats/stats.h"
#include "factor/executors/executor.h"

#include <signal.h>

/* The operation under test: on the matrix a, to completion. For ger, x (m x 1) and y (1 x n) are
 * its vectors. Cholesky uses only the info of the pivots. */
struct timing_problem {
	struct matrix a, x, y, tau;
	struct pivots pivots;
};

struct candidate {
	/* set by the caller */
	bool (*run)(struct candidate *candidate, const struct timing_problem *problem,
	        struct fault *fault);
	/* once, ahead of everything (NULL: nothing): memory. False means refused */
	bool (*prepare)(struct candidate *candidate, const struct timing_problem *problem,
	        struct fault *fault);
	/* ahead of every run, not timed (NULL: nothing): what a phase alone needs from the others
	 */
	bool (*before)(struct candidate *candidate, const struct timing_problem *problem,
	        struct fault *fault);
	/* after the run that is checked (NULL: nothing): results to where the problem has them */
	bool (*after)(struct candidate *candidate, const struct timing_problem *problem,
	        struct fault *fault);
	void (*close)(struct candidate *candidate); /* NULL: nothing */
	void *context;                              /* executor, vendor ... */
	const char *variant;
	unsigned skip;  /* phases left out; the result is then not checked */
	bool ger;       /* rank-1 update instead of a factorization */
	enum uplo uplo; /* of Cholesky: the triangle that it takes */
	/* results */
	struct estimate seconds; /* no samples: refused or failed */
	size_t discarded;        /* runs */
	double residual;         /* LAPACK's test ratio, the check passes below 30 */
	double orthogonality;    /* of QR: the same of I - Q^T Q; else NaN */
	bool refused, failed;    /* note says why */
	bool disturbed; /* the time is that of runs which others made longer, or may have */
	char note[512];
	/* used inside */
	void *work;
	double *sample, *side_queue; /* undisturbed runs, and others */
	size_t samples, side_queues;
	double spent;
	double first; /* seconds of the first run, when it was long; else 0 */
	bool done;
};

struct timing_plan {
	double warm_seconds, max_seconds; /* per candidate */
	double long_seconds; /* a first run of as much is the only one: no interval; 0: never */
	double target;       /* relative half-width of the median's interval that suffices */
	bool screened;          /* one warm run of each, unchecked: to choose what to time */
	uint64_t seed;
	int64_t ld;                        /* > = m */
	const volatile sig_atomic_t *stop; /* set by a signal: give up */
	struct core_noise *noise; /* where the calling thread is; NULL: not known, nothing is discarded
	                      */
};

/* What the candidates run on. */
struct timing_fixture {
	struct executor *executor;
	const struct timing_plan *plan;
	struct timing_problem problem; /* what the candidates get */
	/* the input as it was, the results poisoned */
	bool (*restore)(struct timing_fixture *fixture, struct fault *fault);
	/* looks at what the last run left behind */
	bool (*check)(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault);
};

/* Fills the results of all candidates. False with a fault when stopped. */
bool timing_turns(
        struct timing_fixture *fixture, struct candidate *candidate, size_t count, struct fault *fault);

/* Whether disturbed runs are the longer for it, by what others take that were not: none of these is
 * quicker by more than `target` and than the interval of their median. Without any nobody knows. */
bool timing_slowed(const double *undisturbed, size_t count, const double *disturbed,
        size_t disturbed_count, double target);

/* A candidate's results become those of one of its calls. */
void timing_per_call(struct candidate *candidate, int64_t calls);

/* Passes ok on; on failure the executor's fault becomes the fault. */
bool timing_lift(const struct executor *executor, bool ok, struct fault *fault);

#endif
