/* SPDX-License-Identifier: MIT */
/* LAWN 202's own factorizations (section 5), as plans of ours: variant lawn. Panels of 64 columns
 * on the host CPU beside the updates.
 *   LU        the matrix row-major on the device, products with inverses of the 64 x 64 triangles
 *             in place of solves, two levels of blocks
 *   Cholesky  triangular solves on the CPU, too; two levels of blocks
 *   QR        a sequence of widths, multiples of 64, by dynamic programming
 * As the paper tunes them, the profile chooses the coarse blocks and the widths. The paper has the
 * CPU invert LU's triangles and fill in QR's; here the device does. */
#pragma once

#include "factor/validation/cases.h"
#include "factor/validation/results.h"
#include "factor/validation/whole.h"

#define LAWN_VARIANT "lawn"

/* Squares in single precision. */
bool lawn_plan_has(const struct bench_shape *shape);

/* The plan. profile NULL: coarse blocks of 8, QR's of 64 columns each. */
void lawn_plan_make(const struct profile *profile, const struct bench_shape *shape,
        enum operation operation, struct whole_plan *plan);

/* The row of a factorization without results. */
struct result lawn_plan_row(
        const struct profile *profile, const struct bench_shape *shape, const char *executor);
