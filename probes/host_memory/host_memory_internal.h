/* SPDX-License-Identifier: MIT */
/* Parts of the host_memory probe: what a thread passes over, and how. */
#ifndef FATHOM_HOST_MEMORY_INTERNAL_H
#define FATHOM_HOST_MEMORY_INTERNAL_H

#include "lib/host/pages.h"
#include "lib/host/pinned_threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum way { READ, COPY, WRITE, WAYS }; /* in this order: write leaves what copy must overwrite */

struct worker {
	struct pages pages;
	uint64_t *data;  /* where these begin */
	size_t filled;   /* bytes touched and random so far */
	size_t at, last; /* words before the next piece and before the last one */
	uint64_t sum;
};

struct bench {
	struct worker *worker;
	const struct pinned_threads *pinned;
	bool undisturbed;    /* before the next sample */
	int threads, passes; /* of a sample, over one piece each */
	enum way way;
	size_t part, pieces; /* bytes of one thread, and in how many pieces it passes over them */
};

/* One thread reads, copies or writes its next piece. COPY: from the first half of its part to the
 * second one. */
void pass_piece(const struct bench *bench, struct worker *worker);

/* Whether the last pass left what it should, found by other means than the loop that made it. */
bool passed_right(const struct bench *bench, const struct worker *worker);

#endif
