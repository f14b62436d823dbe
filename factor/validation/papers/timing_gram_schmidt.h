/* SPDX-License-Identifier: MIT */
/* The forms of the Gram-Schmidt process as timed problems: on a matrix in executor memory, random
 * or of a given condition, checked there. */
#pragma once

#include "factor/validation/timing.h"

/* Context of a candidate; it outlives the timing. */
struct gram_entry {
	struct executor *executor;
	char form[32];
	int64_t nb;
};
struct candidate candidate_gram_schmidt(struct gram_entry *entry, const char *variant);

/* Fills the results of all candidates on an m x n matrix; condition: 0 for a random one, whose
 * diagonal keeps it from being singular. With X of
 * a few random columns, in double precision: residual norm(A X - Q R X) / (norm(A X) m eps) must
 * pass; orthogonality norm(X - Q^T Q X) / (norm(X) m eps) is reported only, because it depends on
 * the matrix and the form. */
bool timing_gram_schmidt(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        double condition, const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault);
