/* SPDX-License-Identifier: MIT */
/* The queues of the paper's changes, and Givens rotations by wavefronts (the paper's Fig. 1, with
 * strips of two rows). In stage s the rotation of column c acts on row base + 2 c - s and the row
 * above: rotations of neighbouring columns act on neighbouring rows, and those of one stage are
 * independent. Rows of R are columns of x, as in the paper. Stages: base + p - 1, a kernel each for
 * x and for Q. Operations: 6 a rotation and row of x or q, 3 p n^2 for R and 6 m n p for Q. */
#include "qr_update_paper_internal.h"

enum { EVENT_FORK, EVENT_JOIN }; /* EVENT_JOIN + side, two events */

/* ---- queues ---- */

static enum queue queue_of(const struct paper *s, enum paper_side side)
{
	static const enum queue queues[PAPER_SIDES] = {QUEUE_MAIN, QUEUE_IN, QUEUE_OUT};

	return s->how->phase_timer ? QUEUE_MAIN : queues[side];
}

bool paper_begin(const struct paper *s, enum paper_phase phase)
{
	return phase_timer_begin(s->e, s->how->phase_timer, (int)phase);
}

bool paper_fork(const struct paper *s)
{
	s->e->queue = QUEUE_MAIN;
	return ex_record(s->e, EVENT_FORK);
}

bool paper_side_queue(const struct paper *s, enum paper_side side, enum paper_phase phase)
{
	s->e->queue = queue_of(s, side);
	return paper_begin(s, phase) && (s->e->queue == QUEUE_MAIN || ex_wait(s->e, EVENT_FORK));
}

bool paper_join(const struct paper *s)
{
	struct executor *e = s->e;
	bool ok = true;

	for (int side = SIDE_D; ok && !s->how->phase_timer && side < PAPER_SIDES; side++) {
		e->queue = queue_of(s, (enum paper_side)side);
		ok = ex_record(e, EVENT_JOIN + side);
		e->queue = QUEUE_MAIN;
		ok = ok && ex_wait(e, EVENT_JOIN + side);
	}
	e->queue = QUEUE_MAIN;
	return ok;
}

/* ---- wavefronts ---- */

/* The two halves of the rotations' memory take turns. */
enum { EVENT_MADE = 8, EVENT_USED = 10 };

struct wave {
	int64_t c, i, count; /* first column and its lower row; rotations */
};

static struct wave wave_at(const struct wave_shape *w, int64_t s)
{
	int64_t c = max_int64(0, s - w->base + 1), last = min_int64(w->p - 1, s / w->lag);

	return (struct wave){c, w->base + 2 * c - s, max_int64(0, last - c + 1)};
}

static struct matrix rotations_of(const struct paper *s, const struct wave_shape *w, int64_t stage)
{
	return matrix_view(s->g, 0, stage % (2 * PAPER_WAVES) * w->p, 2, wave_at(w, stage).count);
}

static bool make_some(
        struct paper *s, const struct wave_shape *w, struct matrix x, int64_t from, int64_t to)
{
	bool ok = true;

	for (int64_t stage = from; ok && stage < to; stage++) {
		struct wave at = wave_at(w, stage);
		int64_t first = min_int64(w->row, max_int64(0, at.i - 1 - at.c));
		ok = ex_make_rotations(s->e, w->row + at.c - first,
		        matrix_view(x, first, at.i - 1, x.m - first, 2 * at.count),
		        rotations_of(s, w, stage));
	}
	return ok;
}

static bool use_some(
        struct paper *s, const struct wave_shape *w, struct matrix q, int64_t from, int64_t to)
{
	bool ok = true;

	for (int64_t stage = from; ok && stage < to; stage++) {
		struct wave at = wave_at(w, stage);
		ok = ex_rotate(s->e, rotations_of(s, w, stage),
		        matrix_view(q, 0, at.i - 1, q.m, 2 * at.count));
	}
	return ok;
}

/* Stages from .. to-1 of x, then of q in its queue. */
static bool strip(struct paper *s, const struct wave_shape *w, struct matrix x, struct matrix q,
        int64_t from, int64_t to)
{
	struct executor *e = s->e;
	int half = (int)(from / PAPER_WAVES % 2);
	bool ok = ex_wait(e, EVENT_USED + half) && paper_begin(s, PAPER_GIVENS_R) &&
	          make_some(s, w, x, from, to) && ex_record(e, EVENT_MADE + half) &&
	          paper_side_queue(s, SIDE_Q, PAPER_GIVENS_Q) && ex_wait(e, EVENT_MADE + half) &&
	          use_some(s, w, q, from, to) && ex_record(e, EVENT_USED + half);

	e->queue = QUEUE_MAIN;
	return ok;
}

bool paper_waves(struct paper *s, const struct wave_shape *w, struct matrix x, struct matrix q)
{
	int64_t stages = w->base > 0 ? w->base + w->p - 1 : 0;
	bool ok = paper_fork(s) && ex_record(s->e, EVENT_USED) && ex_record(s->e, EVENT_USED + 1);

	for (int64_t from = 0; ok && from < stages; from += PAPER_WAVES)
		ok = strip(s, w, x, q, from, min_int64(stages, from + PAPER_WAVES));
	return paper_join(s) && ok;
}
