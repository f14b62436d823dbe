/* SPDX-License-Identifier: MIT */
/* Two groups of readers by what they see of the same items: what is quick for one is slow for the
 * other. */
#ifndef FATHOM_PARTITION_H
#define FATHOM_PARTITION_H

#include "lib/base/base.h"
#include "stats.h"

struct partition {
	int groups; /* 1, 2, or 0: not resolved */
	/* seconds of the items that a reader's group reads sooner, or later, than the other */
	struct estimate sooner, later;
	double separation; /* distance of the groups over their spread */
};

/* seconds[reader * items + item], NaN where not measured; fills group[readers] with 0 or 1, reader
 * 0 being in group 0. The readers' leading pattern (first singular vector of the table without its
 * row and column means) must stand out from tables whose columns were shuffled, and its values must
 * form two modes. */
struct partition partition_find(const double *seconds, size_t readers, size_t items, int *group);

#endif
