/* SPDX-License-Identifier: MIT */
/* Whole factorizations as timed problems: a random matrix made in executor memory, restored by a
 * copy there before every run and checked there. */
#ifndef FATHOM_TIMING_WHOLE_H
#define FATHOM_TIMING_WHOLE_H

#include "timing.h"
#include "whole.h"

/* Context of candidates that are ours, and OpenBLAS's; it outlives the timing. */
struct whole_entry {
	struct executor *executor;
	struct whole whole;
	struct whole_plan plan;
	struct matrix host; /* used inside */
	struct matrix tau;
	int *ipiv;
};

/* Ours: a factorization by the entry's plan. */
struct candidate candidate_whole(struct whole_entry *entry, const char *variant);

/* LAPACKE on a copy in host memory, whatever the executor that the problem is on. */
struct candidate candidate_lapacke(struct whole_entry *entry);

/* Fills the results of all candidates, which all do `whole` (from_host and uplo may differ). False
 * with a fault when nothing could be timed (out of memory) or when stopped. */
bool timing_whole(struct executor *executor, const struct whole *whole, enum precision precision,
        int64_t m, int64_t n, const struct timing_plan *plan, struct candidate *candidate,
        size_t count, struct fault *fault);

/* Runs each once, on LAWN 202's matrix (lawn_errors.h) or one of a kind (kind_errors.h; NULL:
 * none): no seconds, and where the result passes as it does above the residual is LAWN 202's
 * measure, or that of the kinds. */
bool timing_whole_errors(struct executor *executor, const struct whole *whole, const char *kind,
        enum precision precision, int64_t n, const struct timing_plan *plan,
        struct candidate *candidate, size_t count, struct fault *fault);

#endif
