/* SPDX-License-Identifier: MIT */
/* Whole factorizations as timed problems: a random matrix made in executor memory, restored by a
 * copy there before every run, and checked there. */
#pragma once

#include "timing.h"
#include "whole.h"

/* Context of our candidates and of LAPACKE's; it outlives the timing. */
struct whole_entry {
	struct executor *executor;
	struct whole whole;
	struct whole_plan plan;
	struct matrix host; /* used inside */
	struct matrix tau;
	int *ipiv;
};

/* Our factorization by the entry's plan. */
struct candidate candidate_whole(struct whole_entry *entry, const char *variant);

/* LAPACKE on a copy in host memory, whatever the executor of the problem. */
struct candidate candidate_lapacke(struct whole_entry *entry);

/* Fills the results of all candidates, which all do `whole` (from_host and uplo may differ). False
 * with a fault when nothing could be timed (out of memory) or when stopped. */
bool timing_whole(struct executor *executor, const struct whole *whole, enum precision precision,
        int64_t m, int64_t n, const struct timing_plan *plan, struct candidate *candidate,
        size_t count, struct fault *fault);

/* Fills a matrix of a kind; kind NULL: the protocol's own matrix. */
typedef bool whole_fill_kind(struct executor *e, const struct whole *whole, const char *kind,
        struct matrix a, uint64_t seed);

/* Runs each candidate once on such an n x n matrix: no seconds. Where the result passes the usual
 * check, residual is check_error's, by largest elements for kind NULL, else by Frobenius's norm. */
bool timing_whole_errors(struct executor *executor, const struct whole *whole,
        whole_fill_kind *fill, const char *kind, enum precision precision, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault);
