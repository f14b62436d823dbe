/* SPDX-License-Identifier: MIT */
/* What the changes of a QR factorization share. */
#ifndef FATHOM_QR_UPDATE_INTERNAL_H
#define FATHOM_QR_UPDATE_INTERNAL_H

#include "qr_update.h"
#include "schedule.h"
#include "sweep.h"

struct update {
	struct executor *e;
	struct qr_factors *f;
	enum qr_change change;
	int64_t p;
	struct sweep sweep;
	struct matrix shifted; /* of move */
	struct matrix w;       /* Q^T U */
	void *gram;
	int *info;           /* of orthogonalize */
	struct system stack; /* add rows: a window's rows above the new ones */
	int64_t bytes;
};

/* Checks the change and divides the workspace; false with the executor's fault. */
bool update_set_up(struct update *, struct executor *, struct qr_factors *, enum qr_change,
        int64_t p, void *work);

/* False with the executor's fault: k is not in 0 .. last; a is not m x n; there are right-hand
 * sides, and b is not those of m rows. */
bool update_check_at(const struct update *, int64_t k, int64_t last);
bool update_check_shape(
        const struct update *, const char *name, struct matrix a, int64_t m, int64_t n);
bool update_check_sides(const struct update *, struct matrix b, int64_t m);

/* All of Q is there: its columns from n on are no part of Q R. */
bool update_whole(const struct qr_factors *);

/* Columns of U that go together when so many are left. */
int64_t update_at_once(const struct update *, int64_t left);

/* The m x n matrix at (i,j) of a goes to (to_i,to_j); the two may overlap. */
bool update_move(struct update *, struct matrix a, int64_t m, int64_t n, int64_t i, int64_t j,
        int64_t to_i, int64_t to_j);

/* The system of `rows` rows that begins at row and column `from` of the factorization, whose R
 * begins at column c and has n columns. */
struct system update_system_at(
        const struct update *, int64_t from, int64_t rows, int64_t c, int64_t n);

#endif
