/* SPDX-License-Identifier: MIT */
/* Shared by timing_update.c and its checks. */
#pragma once

#include "check_whole.h"
#include "timing_update.h"

struct update_fixture {
	struct timing_fixture fixture;
	struct update_question asked;
	struct matrix a, b;              /* before the change */
	struct matrix u, ub;             /* new columns or rows, and their right-hand sides */
	struct matrix u_given, ub_given; /* copies that a change may overwrite */
	struct qr_factors before, f;     /* f has room */
	struct matrix a1, b1;            /* after the change of p at k */
	int64_t k, p;                    /* p = 0: not made */
	struct matrix c, cb, tau;        /* copies that a solver overwrites */
	struct matrix x;                 /* the solution, in its first rows */
	/* asked.from_host: the copies in host memory */
	struct qr_factors host;
	struct update_given host_given;
	struct matrix host_a1, host_b1;
	struct matrix vectors, wide, wide2, tall, tall2, sums; /* of the checks */
	struct pivots info;
	double *full; /* a1's solution by a full QR, for update_errors.h; NULL: not made yet */
};

/* a1 and b1 := a and b with the entry's change. */
bool update_make_after(const struct update_entry *entry);

/* The fixture's factors with the sizes after the change. */
struct qr_factors update_factors_after(const struct update_entry *entry);

/* Of the timing_fixture. */
bool update_check(struct timing_fixture *fixture, struct candidate *candidate);
