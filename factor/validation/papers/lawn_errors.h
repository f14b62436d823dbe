/* SPDX-License-Identifier: MIT */
/* Errors of factorizations as LAWN 202 (section 6) measures them: on its matrices, the factors
 * multiplied, the largest element of the difference. Rows of operations error_getrf, error_geqrf,
 * error_potrf: no times, the measure (check_error) as their residual. */
#ifndef FATHOM_LAWN_ERRORS_H
#define FATHOM_LAWN_ERRORS_H

#include "factor/validation/results.h"
#include "factor/validation/whole.h"

#include <stdio.h>

/* The square matrix that the paper factorizes: random in [-1, 1]; for Cholesky 0.001 I + X^T X, X
 * random in [-1, 1], both triangles, made on the host in double precision. In executor memory. */
bool lawn_fill(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed);

/* Rows of errors are of one line of a table when they are of one factorization, size and kind
 * (kind_errors.h). Whether row i is of errors and the first of its line; and the error that a line
 * has of a variant and math, NaN where it has none. */
bool errors_first_of_line(const struct results *results, size_t i);
double errors_of_line(const struct results *results, const struct result *line, const char *variant,
        enum math math);

/* A line for each operation and size: ours with panels on the device and on the host, by split
 * operands, the vendor's, the host's. */
void lawn_errors_print(const struct results *results, FILE *out);

#endif
