/* SPDX-License-Identifier: MIT */
/* Whether values lie in one mode or in two. */
#ifndef FATHOM_BIMODALITY_H
#define FATHOM_BIMODALITY_H

#include "lib/base/base.h"

/* Two means by the best threshold, of which each side has a seventh of the values at least; fills
 * side[n] with 0 (below) or 1 and returns the distance of the means over the root mean square
 * within; 0 when there is no such threshold. */
double bimodality_find(const double *x, size_t n, int *side);

/* How many modes such a separation means: 1, 2, or 0: not resolved. Values of one normal
 * distribution have 2.7, those spread evenly 3.5. */
int bimodality_count(double separation);

#endif
