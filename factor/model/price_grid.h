/* SPDX-License-Identifier: MIT */
/* The rows of one function of the profile as a dense grid over its arguments. */
#ifndef FATHOM_PRICE_GRID_H
#define FATHOM_PRICE_GRID_H

#include "price.h"

/* Whether the row is one of the surface's, with a value; its argument of that name, or NaN. */
bool price_grid_takes(const struct price_surface *, const struct parameter *row);
double price_grid_argument(const struct parameter *row, const char *arg);

/* The axes, of arguments that enough rows have, in the order of `arg`; then how many values there
 * are. */
void price_grid_axes(struct price_surface *, const struct profile *profile, const char *const *arg);
size_t price_grid_values(const struct price_surface *);

/* The values, and both on the scale between rows: logarithms, or the numbers themselves (linear).
 * What no row has is what the profile says there. */
void price_grid_fill(
        struct price_surface *, const struct profile *profile, const char *const *arg, bool linear);

#endif
