/* SPDX-License-Identifier: MIT */
/* TLB levels from pointer chains over nodes a stride apart, one chain for each stride. Strides
 * below the page size are limited by the reach (reach / stride nodes), larger ones by the number of
 * entries. */
#pragma once

#include "lib/base/base.h"
#include "levels.h"

/* The chain at one stride, fitted over numbers of nodes. */
struct tlb_walk {
	double stride;  /* bytes */
	double largest; /* bytes of its largest set */
	struct levels levels;
};

/* Not resolved: value NaN, low and high are bounds or NaN. A page size is the only power of two
 * within reach over entries; without one it is not resolved. */
struct tlb_level {
	struct estimate reach, page; /* bytes */
	struct estimate entries;
	struct estimate penalty; /* seconds */
	/* Bytes of the smallest-stride set beyond which accesses miss this level; low and high
	 * bound it even when it is not resolved. */
	struct estimate kink;
};

/* chain[] by ascending stride. Fills level[] and returns their number. */
size_t tlb_find(const struct tlb_walk *chain, size_t n, struct tlb_level *level);
