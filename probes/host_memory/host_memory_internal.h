/* SPDX-License-Identifier: MIT */
/* Shared by the files of the host_memory probe: a thread's data, and the passes over them. */
#pragma once

#include "lib/host/pages.h"
#include "lib/host/pinned_threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum way {
	READ,
	COPY,
	WRITE,
	WAYS
}; /* in this order: write leaves data that copy must overwrite */

struct worker {
	struct pages pages;
	uint64_t *data;  /* their first word */
	size_t filled;   /* bytes filled with random data so far */
	size_t at, last; /* words before the next piece and the last one */
	uint64_t sum;
};

struct bench {
	struct worker *worker;
	const struct pinned_threads *pinned;
	bool undisturbed;    /* before the next sample */
	int threads, passes; /* passes of a sample, over one piece each */
	enum way way;
	size_t part, pieces; /* bytes of one thread, and the number of pieces */
};

/* One thread reads, copies or writes its next piece. COPY: from the first half of its part to the
 * second. */
void host_memory_pass(const struct bench *bench, struct worker *worker);

/* Whether the last pass left the right data, checked by another loop. */
bool host_memory_right(const struct bench *bench, const struct worker *worker);
