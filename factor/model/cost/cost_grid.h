/* SPDX-License-Identifier: MIT */
/* The rows of one function of the profile as a dense grid over its arguments. */
#ifndef FATHOM_COST_GRID_H
#define FATHOM_COST_GRID_H

#include "cost.h"

/* Whether the row is one of the surface's, with a value; its argument of that name, or NaN. */
bool cost_grid_takes(const struct cost_surface *, const struct parameter *row);
double cost_grid_argument(const struct parameter *row, const char *arg);

/* The axes, of arguments that enough rows have, in the order of `arg`; then how many values there
 * are. */
void cost_grid_axes(struct cost_surface *, const struct profile *profile, const char *const *arg);
size_t cost_grid_values(const struct cost_surface *);

/* The values, and both on the scale between rows: logarithms, or the numbers themselves (linear).
 * What no row has is what the profile says there. */
void cost_grid_fill(
        struct cost_surface *, const struct profile *profile, const char *const *arg, bool linear);

#endif
