/* SPDX-License-Identifier: MIT */
/* Backward errors of factorizations. By LAWN 202's measure (section 6): its matrices, the factors
 * multiplied, the largest element of the difference. By kind of matrix: norm(E) / (eps norm(A)) in
 * Frobenius's norms, in plain single precision, by split operands, by the vendor and by the host;
 * these errors decide the default math: at most twice the vendor's. Rows of operations error_getrf,
 * error_geqrf, error_potrf: no times, the measure (check_error) as residual; option kind=NAME. */
#pragma once

#include "factor/validation/results.h"
#include "factor/validation/whole.h"

#include <stdio.h>

/* Kinds of matrices.h, and given conditions. */
enum { KIND_ERRORS = 6, KIND_ERRORS_NAME = 24 };
extern const char *const kind_errors_name[KIND_ERRORS];

/* The kind of a row's matrix; false where the row has none. */
bool kind_errors_of(const struct result *row, char kind[KIND_ERRORS_NAME]);

/* A matrix of a kind in executor memory. False with the executor's fault. */
bool kind_errors_fill(struct executor *e, const char *kind, struct matrix a, uint64_t seed);

/* The square matrix that the paper factorizes: random in [-1, 1]; for Cholesky 0.001 I + X^T X, X
 * random in [-1, 1], both triangles, made on the host in double precision. In executor memory. */
bool lawn_fill(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed);

/* The matrix of a kind, or LAWN 202's for kind NULL (timing_whole_errors). */
bool lawn_errors_fill(struct executor *e, const struct whole *whole, const char *kind,
        struct matrix a, uint64_t seed);

/* LAWN 202's errors: a line for each operation and size; ours with panels on the device and on the
 * host, LAWN 202's plan with inverses and with solves, by split operands, the vendor's, the host's.
 */
void lawn_errors_print(const struct results *results, FILE *out);

/* Errors by kind: a line for each factorization and kind. The last columns are our errors over the
 * vendor's, or over the host's without a vendor. */
void kind_errors_print(const struct results *results, FILE *out);
