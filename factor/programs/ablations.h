/* SPDX-License-Identifier: MIT */
/* Rows of a whole factorization that the bench times beside our plans: a plan with one change. All
 * but those from host memory and those by the Gram matrix need rows that are screened, with their
 * seconds. */
#pragma once

#include "lib/profile/profile.h"
#include "factor/executors/executor.h"
#include "factor/validation/results.h"

/* Ablations (LAWN 202, Figure 11): the fastest plan with panels on the device, the fastest with
 * panels on the host and LAWN 202's own, without one optimization that they have on this executor
 * (without=NAME): lookahead, inverse (of triangles), rows (LU on the transpose), widths (a sequence
 * of block widths: replaced by the model's best single width; needs the profile, NULL: none), and
 * of LAWN 202's plan levels (two of blocks), transfers (panels' copies beside updates), batches (of
 * row swaps). Adds to row[0 .. count) the rows that are not done; returns the new count, at most
 * ABLATIONS_WITHOUT more. */
enum { ABLATIONS_WITHOUT = 13, ABLATIONS_OF = 7 };
size_t ablations_without(const struct executor *e, const struct profile *profile,
        const struct results *done, struct result *row, size_t count);

/* The same of one complete row, done or not, into row: at most ABLATIONS_OF. */
size_t ablations_of(const struct executor *e, const struct profile *profile,
        const struct result *from, struct result *row);

/* The plans with panels on the device and LAWN 202's, from host memory and back (from=host),
 * triangles in rectangles of the model's width (piece=COLUMNS; profile NULL: of the blocks'). As
 * many more rows.
 */
size_t ablations_from_host(const struct profile *profile, struct result *row, size_t count);

/* QR in double precision of 8 times as many rows as columns or more: the plans with panels on the
 * device, with panels by the Gram matrix (panel=gram). As many more rows. */
size_t ablations_gram(struct result *row, size_t count);

/* Cholesky of a power of two: our fastest plan with the upper triangle (uplo=u). At most one more.
 */
size_t ablations_upper(const struct results *done, struct result *row, size_t count);
