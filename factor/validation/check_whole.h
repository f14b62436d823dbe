/* SPDX-License-Identifier: MIT */
/* Whether the factors of a large matrix are right, by a few products of the factors with vectors:
 * in double precision, on the executor, whatever the matrix's precision. */
#pragma once

#include "whole.h"

/* With X of CHECK_VECTORS random columns, E = P A - L U, A - Q R or A - L L^T:
 *   residual       norm(E X) / (norm(A X) n eps), an unbiased estimate (in squares, both norms
 *                  Frobenius's) of norm(E) / (norm(A) n eps); n is the larger side
 *   orthogonality  norm(X - Q^T Q X) / (norm(X) n eps), of QR; else NaN
 * eps is LAPACK's (half of the distance from 1 to the next number). NaN when a factor has one. */
enum { CHECK_VECTORS = 4 };
struct whole_check {
	double residual, orthogonality;
	bool pivots_valid; /* j < ipiv[j] <= m and info is 0; else the ratios are NaN */
	bool passed;       /* all ratios are below LAPACK's threshold */
};

/* a0 is the matrix before (Cholesky: both triangles), a after. Needs memory for the matrix in
 * double precision. False with the executor's fault when the check itself fails. */
bool check_whole(struct executor *e, const struct whole *whole, struct matrix a0, struct matrix a,
        struct pivots pivots, struct matrix tau, struct whole_check *check);

/* norm(E) / (eps norm(A)) for the same E, not divided by n; eps is the distance from 1 to the next
 * number, twice LAPACK's. LARGEST: the norm is the magnitude of the largest element, as in LAWN
 * 202. Multiplies the factors in double precision: needs memory for five such matrices and as many
 * operations as several factorizations. A NaN stays. Pivots and info must be valid. */
enum check_norm { FROBENIUS, LARGEST };
bool check_error(struct executor *e, const struct whole *whole, struct matrix a0, struct matrix a,
        struct pivots pivots, struct matrix tau, enum check_norm norm, double *error);

/* norm(a - b) / norm(a) of dense matrices in double precision; host: room for both. */
bool check_difference(struct executor *e, struct matrix a, struct matrix b, enum check_norm norm,
        double *host, double *result);

/* to := from, in double precision; both m x n in the executor's memory. */
bool whole_widen(struct executor *e, struct matrix from, struct matrix to);

/* Random entries in (-1, 1) for all of a, padding included; for Cholesky a symmetric matrix with
 * 2 sqrt(n) + 1 added to the diagonal, which makes it positive definite: the spectrum of the random
 * part ends near 1.15 sqrt(n). Both in the executor's memory. */
bool whole_fill(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed);
