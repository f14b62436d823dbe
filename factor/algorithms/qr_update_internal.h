/* SPDX-License-Identifier: MIT */
/* Shared by the changes of a QR factorization. */
#pragma once

#include "qr_update.h"
#include "plan.h"
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

/* Checks the change and allocates the workspace; false with the executor's fault. */
bool update_set_up(struct update *, struct executor *, struct qr_factors *, enum qr_change,
        int64_t p, void *work);

/* False with the executor's fault when k is too large or below 0; a is not m x n; b is not the
 * right-hand sides of m rows. */
bool update_check_at(const struct update *, int64_t k);
bool update_check_shape(
        const struct update *, const char *name, struct matrix a, int64_t m, int64_t n);
bool update_check_sides(const struct update *, struct matrix b, int64_t m);

/* Whether all of Q is kept; its columns from n on are no part of Q R. */
bool update_whole(const struct qr_factors *);

/* Columns of U in one step when `left` are left. */
int64_t update_at_once(const struct update *, int64_t left);

/* Moves the m x n matrix at (i,j) of a to (to_i,to_j); the two may overlap. */
bool update_move(struct update *, struct matrix a, int64_t m, int64_t n, int64_t i, int64_t j,
        int64_t to_i, int64_t to_j);

/* Copies each pair's first matrix to its second one (in) or back; transposed: as its transpose. */
bool update_exchange(
        struct executor *, struct matrix pairs[][2], size_t count, bool in, bool transposed);

/* Rows added: Q gets p rows of zeros at k; `units` become the unit vectors of these rows. */
bool update_stretch(struct update *, int64_t k, struct matrix units);

/* The system of `rows` rows that begins at row and column `from` of the factorization, whose R
 * begins at column c and has n columns. */
struct system update_system_at(
        const struct update *, int64_t from, int64_t rows, int64_t c, int64_t n);
