/* SPDX-License-Identifier: MIT */
/* Times several ways to do one operation on the same data, in turns, so that drift of the machine
 * affects all alike. Before every run the input is restored by a copy, which is not timed: the L2
 * or cache is warm. The time is the host's, from call to completion, on an idle device. A run is
 * disturbed when the calling thread's core did clearly less than usual before or after it, and on
 * the host when the calling thread did not have its core, or waited asleep, for part of it.
 * Disturbed runs are discarded when there are enough other runs; else they are the time, which is
 * then marked as disturbed, unless the undisturbed runs take as long. */
#pragma once

#include "lib/host/core_noise.h"
#include "lib/host/watchdog.h"
#include "lib/stats/stats.h"
#include "factor/executors/executor.h"

#include <signal.h>

/* The operation under test works on the matrix a. For ger, x (m x 1) and y (1 x n) are its
 * vectors. Cholesky uses only the info of the pivots. */
struct timing_problem {
	struct matrix a, x, y, tau;
	struct pivots pivots;
};

struct timing_fixture;

/* One way to do the operation. */
struct candidate {
	/* Set by the caller; NULL: nothing to do. The functions return false after filling `fault`
	 * or the fault of `executor` (NULL: the fixture's). */
	bool (*run)(struct candidate *candidate);     /* timed, to completion */
	bool (*prepare)(struct candidate *candidate); /* once: memory */
	bool (*before)(struct candidate *candidate);  /* each run, not timed */
	bool (*after)(struct candidate *candidate);   /* the checked run: results into the
	                                                 problem's memory */
	void (*close)(struct candidate *candidate);
	struct executor *executor;
	struct fault fault;
	void *context;   /* executor, vendor ... */
	const void *way; /* a constant of the caller */
	const char *variant;
	int64_t calls;  /* in a run, when they are more than one: the times are of one call */
	unsigned skip;  /* phases or blocks left out; the result is then not checked */
	bool on_host;   /* works on the host, whatever the executor */
	bool ger;       /* rank-1 update instead of a factorization */
	enum uplo uplo; /* the triangle that Cholesky takes */
	/* Results. */
	struct estimate seconds; /* no samples: refused or failed */
	size_t discarded;        /* runs */
	double residual;         /* LAPACK's test ratio, the check passes below 30 */
	double orthogonality;    /* of QR: the same ratio of I - Q^T Q; else NaN */
	bool refused, failed;    /* by a fault that is a refusal, or not one; note: why */
	double reference[2];     /* a reference's time over the profile's, before and after
	                            (gram_reference.h); 0: none */
	const char *disturbed;   /* how, when the time is of disturbed runs that may be longer */
	char note[512];
	/* Set inside. */
	struct timing_fixture *fixture;
	void *work;                  /* released at the end */
	double *sample, *side_queue; /* undisturbed runs, and disturbed ones */
	size_t samples, side_queues;
	double spent;
	double first; /* seconds of the first run, when it was long; else 0 */
	bool done;
};

struct timing_plan {
	double warm_seconds, max_seconds; /* per candidate */
	double long_seconds; /* a first run of this length is the only run: no interval; 0: never */
	double target;       /* relative half-width of the median's interval that suffices */
	bool screened;       /* one warm run of each, unchecked, to screen candidates */
	uint64_t seed;
	int64_t ld;                        /* >= m */
	const volatile sig_atomic_t *stop; /* set by a signal: give up */
	struct core_noise *noise;          /* the calling thread's core; NULL: none is discarded */
	struct timing_watch *watch;        /* NULL: runs may take any time */
};

/* Finds a run that does not return: `watchdog` releases, or ends the program, and finds the variant
 * here. */
struct timing_watch {
	struct watchdog *watchdog;
	const char *variant; /* that runs; NULL: none does */
};

/* What the candidates run on. Its pieces of memory are released by fixture_close (fixture.h). */
enum { TIMING_PIECES = 32 };
struct timing_fixture {
	struct executor *executor;
	const struct timing_plan *plan;
	/* the input again, the results poisoned; NULL: candidates do it before each run */
	bool (*restore)(struct timing_fixture *fixture);
	/* judges the results of the last run */
	bool (*check)(struct timing_fixture *fixture, struct candidate *candidate);
	struct timing_problem problem;
	void *piece[TIMING_PIECES];
	size_t pieces;
};

/* Fills the results of all candidates. False with a fault when stopped. */
bool timing_turns(struct timing_fixture *fixture, struct candidate *candidate, size_t count,
        struct fault *fault);

/* Whether disturbed runs may be longer than undisturbed ones: true when an undisturbed run is
 * quicker than the disturbed median by more than `target` and than its interval, or without any
 * undisturbed run. */
bool timing_slowed(const double *undisturbed, size_t count, const double *disturbed,
        size_t disturbed_count, double target);

/* Scratch memory of a candidate; bytes < 0: the executor has refused the plan or shape. */
bool timing_work(struct candidate *candidate, struct executor *e, int64_t bytes);
