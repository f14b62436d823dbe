/* SPDX-License-Identifier: MIT */
/* The protocol of Kerr, Campbell and Richards (QR decomposition on GPUs, GPGPU 2009) besides the
 * algorithm (kerr.h): the matrices, the count of operations (Table 1), the measures of error
 * (section 5). */
#pragma once

#include "factor/papers/kerr.h"

/* Table 1's operations of each phase, with blocks of r columns (its own: 32). KERR_PANEL is the sum
 * of KERR_HOUSE and KERR_UPDATE and not counted again in the total. With u the column, j its number
 * in its block from 1 on, k the block's number from 0 on:
 *   house         sum 2 (m - u)
 *   panel update  sum 3 (m - u) (r - j)
 *   WY            sum (m - k r) (4 (j - 1) + 2), j from 2 on
 *   apply to A    sum (4 r + 1) (m - k r) (n - (k + 1) r)
 *   apply to Q    sum (4 r + 1) m (m - k r)
 * The paper does not print the formulas. They give its Table 1 to the last digit, WY to half a
 * percent. Two entries, the last of WY, follow from no formula (1.65 and 25.0 in place of 0.87 and
 * 1.6); nor does the paper's best rate, 143 Gflop/s, which is 139.7 by this count. */
enum { KERR_TABLE_R = 32 };
double kerr_count(int64_t m, int64_t n, int64_t r, double phase[KERR_PHASES]);

/* Random numbers in (-1, 1) below the diagonal, ones on it, zeros above; then rounds of rotations
 * of random pairs of rows by random angles, until each row depends on all. a: m x n on the host,
 * leading dimension m. */
void kerr_matrix(void *a, int64_t m, int64_t n, enum precision precision, uint64_t seed);

/* In double precision, from the whole products. The paper does not name the norm: here it is the
 * 2-norm, by power iteration from a random vector, which for noise ends a few percent below. */
struct kerr_errors {
	double residual;      /* norm(Q R - A) / norm(A) */
	double orthogonality; /* norm(Q^T Q - I) */
	double triangularity; /* norm(L), L the part of Q^T A below the diagonal */
	double limit;         /* the paper's limit of all three, m 2^-23 */
	bool passed;
};

/* Memory for them: q_copy and square are m x m, a_copy m x n, vectors m x 2, all DOUBLE and dense
 * (ld = m). kerr_room_take: in a fixture. */
struct kerr_room {
	struct matrix a_copy, q_copy, square, vectors;
};
struct timing_fixture;
bool kerr_room_take(struct timing_fixture *memory, int64_t m, int64_t n, struct kerr_room *room);

/* a is the matrix before, r has R in its upper triangle. False with the executor's fault. */
bool kerr_errors(struct executor *, struct matrix a, struct matrix r, struct matrix q,
        const struct kerr_room *room, struct kerr_errors *errors);
