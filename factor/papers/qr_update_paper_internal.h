/* SPDX-License-Identifier: MIT */
/* What the paper's changes of a QR factorization share. */
#ifndef FATHOM_QR_UPDATE_PAPER_INTERNAL_H
#define FATHOM_QR_UPDATE_PAPER_INTERNAL_H

#include "factor/algorithms/plan_default.h"
#include "qr_update_paper.h"
#include "factor/algorithms/qr_update_internal.h"

/* Wavefronts whose rotations are handed from one queue to another together. */
enum { PAPER_WAVES = 32 };

/* What a change is applied to, each in a queue of its own. */
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
	/* blocks of reflectors: V, T and V T^T of all of them side by side, so that no queue waits
	 * for another's use of them */
	struct matrix v, t, scaled;
	struct matrix row, taus, one; /* nb numbers, nb numbers, a 1 */
	struct reflector_work work[PAPER_SIDES];
	/* the candidates: whole factorizations, of what is to be reduced (rows added: R above U, d
	 * above b, Q beside units) and, columns added, of what is below R first */
	struct paper_whole whole, lower;
	struct matrix stack, stack_d, stack_q;
	/* rotations: the rows of the system as columns of x, and cosines and sines */
	struct matrix w, x, g;
	struct matrix units; /* added rows without all of Q: the columns beside Q */
};

/* Checks the change and divides the workspace; false with the executor's fault. */
bool paper_set_up(struct paper *, struct executor *, struct qr_factors *, enum qr_change, int64_t p,
        void *work, const struct qr_paper *);

/* The phase begins. */
bool paper_begin(const struct paper *, enum paper_phase);

/* What comes next belongs to the phase and works on that side, in its queue, behind what is in
 * QUEUE_MAIN when paper_fork is called. */
bool paper_fork(const struct paper *);
bool paper_side_queue(const struct paper *, enum paper_side, enum paper_phase);

/* Back to QUEUE_MAIN; paper_join: which waits for all sides. */
void paper_back(const struct paper *);
bool paper_join(const struct paper *);

/* Columns of a block where blocks are to reduce so many. */
int64_t paper_width(const struct qr_paper *, int64_t columns);

/* qr_update_paper_blocks.c. paper_band: y.r, whose elements from column j on reach p rows below the
 * diagonal, becomes upper triangular with zeros below; y.d and y.q go with it. paper_stack: the
 * same of y.r, which is, above u (p x n), where the reflectors' vectors stay; y.d above b; y.q
 * beside units. */
bool paper_band(struct paper *, struct system y, int64_t j, int64_t p);
bool paper_stack(
        struct paper *, struct system y, struct matrix u, struct matrix b, struct matrix units);

/* qr_update_paper_whole.c: for a of these rows and columns at most, applied to d, and to q from the
 * right; false with the executor's fault. And such a one: a becomes upper triangular with zeros
 * below. */
bool paper_whole_workspace(struct paper *, struct paper_whole *, struct workspace *, struct matrix a,
        struct matrix d, struct matrix q);
bool paper_whole_run(const struct paper *, const struct paper_whole *, struct matrix a,
        struct matrix d, struct matrix q);

/* qr_update_paper_waves.c: row `row` of x and the p - 1 behind it become zero right of their
 * diagonal element, which is column c of the c-th, by rotations of x's columns; until then the c-th
 * ends with column base + c (lag 1) or base (lag 2) of x. The element in row j above them and
 * column i is zero where i > j. The columns of q, as many, go with those of x. */
struct wave_shape {
	int64_t row, p, base, lag;
};
bool paper_waves(struct paper *, const struct wave_shape *, struct matrix x, struct matrix q);

#endif
