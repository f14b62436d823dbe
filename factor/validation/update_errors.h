/* SPDX-License-Identifier: MIT */
/* Errors of a changed QR factorization as Andrew and Dingle measure them (their Tables 3 to 5): on
 * the host, in double precision, with norms in 2 by 20 steps of power iteration, which are a few
 * percent too small at most. */
#pragma once

#include "factor/algorithms/qr_update.h"

/* NaN: without Q. */
struct update_errors {
	double x;          /* norm(x - x1) / norm(x): x1 by the change, x by a full QR */
	double factors;    /* norm(Q R - A) / norm(A) */
	double orthogonal; /* norm(Q^T Q - I) */
};

/* x, 64-bit numbers, by LAPACK's gels of a (m x n) and b (m x 1) in the matrix's precision; false
 * with the executor's fault. */
bool update_errors_full(struct executor *, struct matrix a, struct matrix b, double *x);

/* f: the factors of a; x1 (n x 1): the solution with them; full: the one to compare x1 with. */
bool update_errors_find(struct executor *, const struct qr_factors *f, struct matrix a,
        struct matrix x1, const double *full, struct update_errors *out);
