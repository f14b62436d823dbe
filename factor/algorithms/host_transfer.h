/* SPDX-License-Identifier: MIT */
/* Copies a matrix from host memory to the executor before a factorization, and back. A triangle is
 * copied as rectangles of `width` columns that cover it (LAWN 202): narrow ones carry less of the
 * other triangle, n (n + width) / 2 elements in all; wide ones start fewer copies, n / width. With
 * one width for both directions the other triangle comes back unchanged.
 *
 * Copies have full speed with pinned host memory. They follow earlier work in QUEUE_MAIN, and later
 * work there follows them. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* uplo WHOLE: the whole matrix, for any width. host and a have the same size; host.data is host
 * memory. False with the executor's fault on failure. */
bool matrix_to_device(
        struct executor *, enum uplo uplo, int64_t width, struct matrix host, struct matrix a);
bool matrix_to_host(
        struct executor *, enum uplo uplo, int64_t width, struct matrix a, struct matrix host);

/* The copies before and after a factorization by a plan, of the triangle that it works on (WHOLE:
 * of all). piece: columns of a rectangle, 0: the widest block. Plans in_place: before, panels get
 * their place in host; after, only the columns that have no panel come back. */
bool factor_from_host(struct executor *, const struct plan *, enum uplo uplo, int64_t piece,
        struct matrix host, struct matrix a);
bool factor_to_host(struct executor *, const struct plan *, enum uplo uplo, int64_t piece,
        struct matrix a, struct matrix host);
