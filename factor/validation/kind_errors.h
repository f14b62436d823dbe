/* SPDX-License-Identifier: MIT */
/* Backward errors by kind of matrix, in plain single precision, by split operands, the vendor's and
 * the host's, of LU and QR: norm(E) / (eps norm(A)), Frobenius's norms. The choice of a default
 * math is decided by them: at most twice the vendor's. Rows as those of lawn_errors.h, with the
 * kind as an option. */
#ifndef FATHOM_KIND_ERRORS_H
#define FATHOM_KIND_ERRORS_H

#include "results.h"

#include <stdio.h>

/* Kinds of matrices.h, and given conditions. */
enum { KIND_ERRORS = 6, KIND_ERRORS_NAME = 24 };
extern const char *const kind_errors_name[KIND_ERRORS];

/* The kind of a row's matrix into kind; false where it has none. */
bool kind_errors_of(const struct result *row, char kind[KIND_ERRORS_NAME]);

/* A matrix of that kind in executor memory. False with the executor's fault. */
bool kind_errors_fill(struct executor *e, const char *kind, struct matrix a, uint64_t seed);

/* A line for each factorization and kind; the last columns say how many times the vendor's error,
 * or the host's where that lacks, each of ours is. */
void kind_errors_print(const struct results *results, FILE *out);

#endif
