/* SPDX-License-Identifier: MIT */
/* Two groups of readers by what they see of the same items: near ones quickly, far ones slowly. */
#ifndef FATHOM_PARTITION_H
#define FATHOM_PARTITION_H

#include "base.h"
#include "stats.h"

struct partition {
	int groups;                /* 1, 2, or 0: not resolved */
	struct estimate near, far; /* seconds of items of a reader's own group, of the other */
	double separation;         /* distance of the groups over their spread */
};

/* seconds[reader * items + item], NaN where not measured; fills group[readers] with 0 or 1, reader
 * 0 being in group 0. The readers' leading pattern (first singular vector of the table without its
 * row and column means) must stand out from tables whose columns were shuffled, and its values must
 * form two clumps. */
struct partition partition_find(const double *seconds, size_t readers, size_t items, int *group);

#endif
