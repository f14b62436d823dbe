/* SPDX-License-Identifier: MIT */
/* When the matrix of a QR factorization changes, R has a band of elements below its diagonal, or a
 * spike. A sweep removes them along the diagonal with windows: a small QR factorization inside the
 * window, and its reflectors applied by gemm to the columns right of it, to the right-hand sides,
 * and from the right to the columns of Q. Earlier work in QUEUE_MAIN comes before a sweep, later
 * work after it. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"
#include "reflectors.h"

/* Most columns of a window, and rows of a window of a sweep up: the width of the band in the end.
 * Few such windows, which wait for each other, are faster than many. */
enum { SWEEP_COLUMNS = 64, SWEEP_UP_ROWS = 128, SWEEP_TURNS = 2 };

struct sweep {
	struct executor *e;
	struct reflectors reflectors, up[SWEEP_TURNS];
	struct matrix tau;
	void *panel_work;
	void *band_work; /* of a sweep down in one call */
	struct reflector_work work;
};

/* Workspace of sweeps with windows of up to `rows` rows, applied to up to `columns` columns (or
 * rows of Q); down over p rows, or up (p = 0). */
struct sweep sweep_workspace(struct executor *, struct workspace *, int64_t rows, int64_t columns,
        int64_t p, enum precision precision);

/* Makes panel, whose first row is row i of the system, upper triangular with zeros below, and
 * applies its reflectors to the system, from column c of r on. */
bool sweep_window(const struct sweep *, struct system, struct matrix panel, int64_t i, int64_t c);

/* Column j >= k of r has elements down to row j + p: makes r upper triangular. */
bool sweep_down(const struct sweep *, struct system, int64_t k, int64_t p);

/* Whether the executor has this sweep down in one call. */
bool sweep_band_fits(struct executor *, enum precision precision, int64_t p);

/* spike (with r's rows, p <= SWEEP_COLUMNS columns) becomes upper triangular from row k on: zero
 * below row k + p. Row i >= k of r begins in column i - k before and, except for rows k .. k+p-1,
 * in column i - k - p after. */
bool sweep_up(const struct sweep *, struct system, struct matrix spike, int64_t k);
