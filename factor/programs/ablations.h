/* SPDX-License-Identifier: MIT */
/* Rows of a whole factorization that the bench times beside ours: the same plan with one thing
 * changed. All but those from host memory come after a trial, whose seconds the rows have. */
#ifndef FATHOM_ABLATIONS_H
#define FATHOM_ABLATIONS_H

#include "lib/profile/profile.h"
#include "factor/executors/executor.h"
#include "factor/validation/results.h"

/* What each optimization is worth (LAWN 202, Figure 11): the fastest with panels on the device and
 * the fastest with them on the host, with one thing left out that they have on this executor
 * (without=NAME): lookahead, inverse (of triangles), rows (LU's work on the transpose), widths (a
 * sequence of them: then the model's best single one). The last needs the profile (NULL: none).
 * Adds to row[0 .. count) none that is done; returns the new count, at most ABLATIONS_WITHOUT
 * more. */
enum { ABLATIONS_WITHOUT = 7 };
size_t ablations_without(const struct executor *e, const struct profile *profile,
        const struct results *done, struct result *row, size_t count);

/* Those with panels on the device, from host memory and back to it (from=host), triangles in the
 * rectangles that the model chooses (piece=COLUMNS; profile NULL: in the blocks'). As many more. */
size_t ablations_from_host(const struct profile *profile, struct result *row, size_t count);

/* Cholesky of a power of two, in either precision: the fastest of ours with the upper triangle in
 * place of the lower one (uplo=u). At most one row more. */
size_t ablations_upper(const struct results *done, struct result *row, size_t count);

#endif
