/* SPDX-License-Identifier: MIT */
/* TLB levels from chains over nodes a stride apart, one chain a stride. Below the page size the reach
 * limits the number of nodes (reach / stride), from there on the number of entries does. */
#ifndef FATHOM_TLB_H
#define FATHOM_TLB_H

#include "lib/base/base.h"
#include "levels.h"

/* One stride's chain, fitted over numbers of nodes. */
struct tlb_walk {
	double stride;  /* bytes */
	double largest; /* bytes of its largest set */
	struct levels levels;
};

/* Not resolved: value NaN, low and high bounds or NaN. Pages are powers of two: of reach over
 * entries the one that fits alone; where none does the page is not resolved. */
struct tlb_level {
	struct estimate reach, page; /* bytes */
	struct estimate entries;
	struct estimate penalty; /* seconds */
	/* Bytes of the set with the smallest stride beyond which accesses miss this level; low and
	 * high bound it even when it is not resolved. */
	struct estimate kink;
};

/* chain[] by ascending stride. Fills level[] and returns their number. */
size_t tlb_find(const struct tlb_walk *chain, size_t n, struct tlb_level *level);

#endif
