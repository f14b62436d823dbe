/* SPDX-License-Identifier: MIT */
/* Bimodality: whether values form one group or two. */
#pragma once

#include "lib/base/base.h"

/* Splits the values at the best threshold (two means); each side has a seventh of the values at
 * least. Fills side[n] with 0 (below) or 1. Returns the distance of the means over the root mean
 * square within the groups; 0 when there is no such threshold. */
double bimodality_find(const double *x, size_t n, int *side);

/* The number of groups for a separation: 1, 2, or 0: not resolved. A normal distribution has a
 * separation of 2.7, a uniform one 3.5. */
int bimodality_count(double separation);
