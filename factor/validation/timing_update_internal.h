/* SPDX-License-Identifier: MIT */
/* What timing_update.c and its checks share. */
#ifndef FATHOM_TIMING_UPDATE_INTERNAL_H
#define FATHOM_TIMING_UPDATE_INTERNAL_H

#include "check_whole.h"
#include "timing_update.h"

enum { PIECES = 32 };

struct update_fixture {
	struct timing_fixture fixture;
	struct update_question asked;
	struct matrix a, b;              /* before the change */
	struct matrix u, ub;             /* new columns or rows, and their right-hand sides */
	struct matrix u_given, ub_given; /* what a change may overwrite */
	struct qr_factors before, f;     /* f has room */
	struct matrix a1, b1;            /* after the change of p at k */
	int64_t k, p;                    /* p = 0: not made */
	struct matrix c, cb, tau;        /* in place of these */
	struct matrix x;                 /* the solution, in its first rows */
	/* asked.from_host: where they begin */
	struct qr_factors host;
	struct update_given host_given;
	struct matrix host_a1, host_b1;
	struct matrix vectors, wide, wide2, tall, tall2, sums; /* of the checks */
	struct pivots info;
	void *piece[PIECES];
	size_t pieces;
};

/* a1 and b1 become what the entry's change makes of a and b. */
bool update_make_after(const struct update_entry *entry);

/* What the fixture's factors are after it. */
struct qr_factors update_factors_after(const struct update_entry *entry);

/* What comes with the entry's change: where it is, and where the change may overwrite it. */
struct update_given update_source_of(const struct update_entry *entry);
struct update_given update_given_of(const struct update_entry *entry);

/* asked.from_host: pinned memory for all that begins there; before a run what it begins with goes
 * there, and what the executor has of it becomes NaN; then the part of the run that brings it. */
bool update_host_take(struct update_fixture *s);
bool update_host_prepare(const struct update_entry *entry);
bool update_host_bring(const struct update_entry *entry);

/* Of the timing_fixture. */
bool update_check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault);

#endif
