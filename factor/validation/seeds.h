/* SPDX-License-Identifier: MIT */
/* The log of drawn seeds: seeds.tsv, one row a seed, profile and model. A row is written when the
 * seed is drawn; its cases and median errors follow when it is judged. A seed that another model or
 * profile was judged by has been seen: it judges nothing any more. */
#pragma once

#include "lib/base/table.h"

struct seed_key {
	int64_t seed;
	const char *profile, *model; /* checksums */
};

/* The log of a folder, empty where there is none; ends the program when it cannot be read. */
struct table *seeds_read(const char *folder);

/* The row of a key, added with today's date unless it is there. */
size_t seeds_row(struct table *seeds, const struct seed_key *key);

/* Whether the seed was judged with another profile or model. */
bool seeds_seen(const struct table *seeds, const struct seed_key *key);
