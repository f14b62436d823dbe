/* SPDX-License-Identifier: MIT */
/* Kerr's QR with the whole Q as a timed problem: on his matrix in executor memory, checked there by
 * his three criteria. */
#pragma once

#include "factor/papers/kerr.h"
#include "factor/validation/timing.h"

/* Context of a candidate; it outlives the timing. r: the width of blocks. */
struct kerr_entry {
	struct executor *executor;
	enum kerr_variant variant;
	int64_t r;
};
struct candidate candidate_kerr(struct kerr_entry *entry);

/* Fills the results of all candidates on an m x n matrix, m >= n. Residual and orthogonality are
 * kerr_errors' over m eps. */
bool timing_kerr(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault);
