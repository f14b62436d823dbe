/* SPDX-License-Identifier: MIT */
/* Products in a row (product.h) as cases: the hold-out list, predictions, measurements. */
#pragma once

#include "lib/profile/profile.h"
#include "factor/algorithms/product.h"
#include "draw.h"
#include "timing.h"

/* Whether a row is one: operation gemv (variants own and cublas, options trans=n|t) or gemm (own
 * where our kernels are faster; cublas), plan calls=N. */
bool results_is_product(const struct result *row);
struct product product_of(const struct result *row);

/* The hold-out list as rows without results: fixed sizes off the powers of two that the probes use,
 * or drawn ones. The caller frees *rows. */
size_t cases_products(bool quick, const struct draw *draw, struct result **rows);

/* Adds the predictions at three levels; returns how many cases were refused. */
size_t predict_products(struct results *results, const struct profile *profile, bool quick,
        const struct draw *draw);

/* Fills seconds (of one call) and residual of a candidate for each of `count` products, all of one
 * shape and precision. Checks one call, at elements chosen at random. */
bool timing_products(struct executor *executor, const struct product *product,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault);
