/* SPDX-License-Identifier: MIT */
/* Shared by the files of lib/stats/levels: the choice of a law, and the levels that it determines.
 */
#pragma once

#include "lib/base/base.h"
#include "levels.h"
#include "levels_law.h"

struct search {
	const struct law_table *table;
	struct law_points points;
	double first, last; /* logs of the smallest and the largest size */
	double scale;       /* by which the loss is divided to be chi squared */
	double loss;
	struct law other[LEVELS_MAX + 1]; /* the best law for each number of levels tried, */
	double misfit[LEVELS_MAX + 1];    /* and how well it fits */
	size_t tried;
};

/* Fills the levels from the chosen law, and marks the resolved ones. */
void levels_describe(const struct search *search, const struct law *law, struct levels *levels);
