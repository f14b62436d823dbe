/* SPDX-License-Identifier: MIT */
/* Shared by the paper's changes of a QR factorization. */
#pragma once

#include "factor/algorithms/plan_default.h"
#include "qr_update_paper.h"
#include "factor/algorithms/qr_update_internal.h"

/* Wavefronts whose rotations pass from one queue to another together. */
enum { PAPER_WAVES = 32 };

/* The parts of a factorization, each in a queue of its own. */
enum paper_side { SIDE_R, SIDE_D, SIDE_Q, PAPER_SIDES };

/* A QR factorization by the default plan. */
struct paper_whole {
	struct default_plan plan;
	struct matrix tau;
	void *work;
};

struct paper {
	struct executor *e;
	struct qr_factors *f;
	const struct qr_paper *how;
	struct update update; /* checks and moves */
	int64_t nb, bytes;
	/* V, T and V T^T of all blocks of reflectors side by side: queues do not wait for each
	 * other's reads */
	struct matrix v, t, scaled;
	struct matrix row, taus, one; /* nb numbers, nb numbers, a 1 */
	struct reflector_work work[PAPER_SIDES];
	/* the candidates: a whole factorization (of R above U, d above b, Q beside units when rows
	 * are added); lower: when columns are added, first one of the rows below R */
	struct paper_whole whole, lower;
	struct matrix stack, stack_d, stack_q;
	/* rotations: rows of the system as columns of x; cosines and sines */
	struct matrix w, x, g;
	struct matrix units; /* added rows without all of Q: the columns beside Q */
};

/* The phase begins. */
bool paper_begin(const struct paper *, enum paper_phase);

/* paper_side_queue: the next operations belong to the phase and to this side, go into its queue,
 * and wait for the work that was in QUEUE_MAIN when paper_fork was called. */
bool paper_fork(const struct paper *);
bool paper_side_queue(const struct paper *, enum paper_side, enum paper_phase);

/* The next operations go into QUEUE_MAIN and wait for all sides. */
bool paper_join(const struct paper *);

/* paper_band: y.r, whose elements from column j on reach p rows below the diagonal, becomes upper
 * triangular with zeros below; y.d and y.q are updated. paper_stack: the same for y.r, upper
 * triangular, above u (p x n), where the reflectors' vectors stay; y.d above b; y.q beside units.
 */
bool paper_band(struct paper *, struct system y, int64_t j, int64_t p);
bool paper_stack(
        struct paper *, struct system y, struct matrix u, struct matrix b, struct matrix units);

/* Rotations of x's columns make row `row` of x and the p - 1 rows behind it zero right of their
 * diagonal element, which is column c of the c-th. Before, the c-th row ends with column base + c
 * (lag 1) or base (lag 2) of x. In the rows above, row j has zeros in columns i > j. The columns of
 * q, as many, are rotated with x's. */
struct wave_shape {
	int64_t row, p, base, lag;
};
bool paper_waves(struct paper *, const struct wave_shape *, struct matrix x, struct matrix q);
