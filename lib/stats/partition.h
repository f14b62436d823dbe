/* SPDX-License-Identifier: MIT */
/* Two groups of readers: an item that one group reads quickly the other reads slowly. */
#pragma once

#include "lib/base/base.h"
#include "stats.h"

struct partition {
	int groups; /* 1, 2, or 0: not resolved */
	/* seconds of the items that the reader's own group reads sooner, or later, than the other
	 * group */
	struct estimate sooner, later;
	double separation; /* distance of the groups over their spread */
};

/* seconds[reader * items + item], NaN where not measured. Fills group[readers] with 0 or 1; reader
 * 0 is in group 0. The readers' leading pattern is the first singular vector of the table without
 * row and column means. It must stand out from tables with shuffled columns, and its values must be
 * bimodal. */
struct partition partition_find(const double *seconds, size_t readers, size_t items, int *group);
