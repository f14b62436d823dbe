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
	int64_t k, p;
	struct matrix u, v, b; /* the operands; columns or rows of them are taken in steps */
	int *result;           /* the caller's info */
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

/* Takes the operands of qr_update; false with the executor's fault when k is out of its range, or
 * an operand that the change reads has another shape. */
bool update_take_operands(
        struct update *, int64_t k, struct matrix u, struct matrix v, struct matrix b, int *info);

/* The changes, after update_take_operands. */
bool update_remove_columns(struct update *);
bool update_add_columns(struct update *);
bool update_add_rows(struct update *);
bool update_remove_rows(struct update *);
bool update_modify(struct update *);

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
