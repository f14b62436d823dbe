/* SPDX-License-Identifier: MIT */
/* What becomes of a QR factorization when its matrix changes is a band of elements that go wrong
 * and move along the diagonal. A sweep follows them with a window: a small QR factorization inside
 * the window, its reflectors applied by gemm to what lies right of it, to the right-hand sides, and
 * from the right to the columns of Q. What was put into QUEUE_MAIN before comes before it, what
 * comes later after it. */
#ifndef FATHOM_SWEEP_H
#define FATHOM_SWEEP_H

#include "factor/executors/executor.h"
#include "plan.h"
#include "reflectors.h"

/* Columns of a window at most, and rows that the one of a sweep up goes up by: those are what its
 * band is as wide as in the end, and few such windows, which wait for each other, are quicker than
 * many. */
enum { SWEEP_COLUMNS = 64, SWEEP_UP_ROWS = 128, SWEEP_TURNS = 2 };

struct sweep {
	struct executor *e;
	struct reflectors reflectors, up[SWEEP_TURNS];
	struct matrix tau;
	void *panel_work;
	void *band_work; /* of sweeps down in one call */
	struct reflector_work work;
};

/* The workspace of sweeps of windows with up to `rows` rows that are applied to up to `columns`
 * columns (or rows of Q), down with p (0: up). */
struct sweep sweep_workspace(struct executor *, struct workspace *, int64_t rows, int64_t columns,
        int64_t p, enum precision precision);

/* panel, whose first row is row i of the system, becomes upper triangular with zeros below; so does
 * to it what is done to the system's rows, from column c of r on. */
bool sweep_window(const struct sweep *, struct system, struct matrix panel, int64_t i, int64_t c);

/* Column j of r has elements down to row j + p where j >= k: r becomes upper triangular. */
bool sweep_down(const struct sweep *, struct system, int64_t k, int64_t p);

/* Whether the executor has sweeps down in one call, and such a one. */
bool sweep_band_fits(struct executor *, enum precision precision, int64_t p);

/* spike (as many rows as r) has p <= SWEEP_COLUMNS columns, which become upper triangular from row
 * k on: zero below row k + p. What r has in row i >= k begins in column i - k before and, except
 * for rows k .. k+p-1, in column i - k - p after it. */
bool sweep_up(const struct sweep *, struct system, struct matrix spike, int64_t k);

#endif
