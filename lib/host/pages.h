/* SPDX-License-Identifier: MIT */
/* Memory with small or with huge pages, verified: the kernel may grant other pages than asked for.
 */
#pragma once

#include "lib/base/base.h"

struct pages {
	char *base;
	size_t bytes, page; /* page: size of one */
	size_t touched;     /* bytes that have memory behind them */
	bool reserved;      /* from the pool of huge pages: nothing to verify */
	void *mapping;      /* as mmap gave it */
	size_t mapped;
};

/* Address space without memory yet: whole pages, at least `bytes`. Huge pages come from the pool of
 * reserved pages if it has enough of them, else they are transparent ones. False with a fault. */
bool pages_map(struct pages *pages, size_t bytes, bool huge, struct fault *fault);
void pages_unmap(struct pages *pages);

/* Puts memory behind the first `bytes`, near the calling thread's core. */
void pages_touch(struct pages *pages, size_t bytes);

/* Whether at least 99 % of the touched bytes have pages of the size asked for. */
bool pages_verified(const struct pages *pages);

/* Bytes of a small page: 4, 16 or 64 KiB. */
size_t pages_small(void);

/* The bytes of whole small pages that hold `bytes`. */
size_t pages_rounded(size_t bytes);

/* Bytes that a program may take without swapping; 0 when unknown. */
size_t pages_available(void);
