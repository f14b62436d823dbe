/* SPDX-License-Identifier: MIT */
/* Forward solves with the diagonal blocks of a factorization: by trsm, or by gemm with the inverses
 * of narrow pieces of the diagonal (Volkov and Demmel, LAWN 202, section 5; for the errors Du
 * Croz and Higham 1992). Every piece is checked: where its inverse has grown too large,
 * substitution replaces the result (operations.h, trsm_guard). */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* op(A) X = B (LEFT) or X op(A) = B (RIGHT), such that the first piece of A comes first: LEFT LOWER
 * PLAIN, LEFT UPPER TRANSPOSED, RIGHT LOWER TRANSPOSED or RIGHT UPPER PLAIN. */
struct triangle {
	enum side side;
	enum uplo uplo;
	enum trans trans;
	enum diag diag;
	int64_t piece; /* width of the inverted pieces; 0: trsm, and no inverses */
};

/* Width of the pieces of a plan: on the device a piece never crosses leaves. */
int64_t triangle_piece(const struct plan *);

/* False with the executor's fault when the plan's leaves don't divide into pieces. */
bool triangle_check(struct executor *, const struct plan *);

/* Room for the inverses of a triangle of n columns: piece x n, each inverse below its piece. */
struct matrix triangle_workspace(
        const struct triangle *, struct workspace *, int64_t n, enum precision precision);

/* Inverts the pieces of the n x n triangle a into inverse (piece x n at least). */
bool triangle_invert(
        struct executor *, const struct triangle *, struct matrix a, struct matrix inverse);

/* b := the solution. inverse: from triangle_invert; kept: room (plan.h) for a matrix of b's size.
 * Neither is used without inverses. */
bool triangle_solve(struct executor *, const struct triangle *, struct matrix a,
        struct matrix inverse, struct matrix kept, struct matrix b);
