/* SPDX-License-Identifier: MIT */
#include "seeds.h"

#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const columns[] = {
        "seed", "date", "fathom", "profile_sha256", "model", "cases", "median_abs_errors"};

struct table *seeds_read(const char *folder)
{
	struct fault fault;
	char *path = xasprintf("%s/seeds.tsv", folder);
	struct table *seeds = access(path, F_OK) == 0 ? table_read(path, &fault)
	                                              : table_new(columns, ARRAY_LEN(columns));

	if (!seeds)
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	for (size_t c = 0; c < ARRAY_LEN(columns); c++)
		if (table_column(seeds, columns[c]) < 0)
			msg_die(EXIT_MEASURE_FAILED, "%s has no column '%s'", path, columns[c]);
	free(path);
	return seeds;
}

static bool same_seed(const struct table *seeds, size_t row, const struct seed_key *key)
{
	return table_real(seeds, row, "seed") == (double)key->seed;
}

static bool same_model(const struct table *seeds, size_t row, const struct seed_key *key)
{
	return strcmp(table_text(seeds, row, "profile_sha256"), key->profile) == 0 &&
	       strcmp(table_text(seeds, row, "model"), key->model) == 0;
}

size_t seeds_row(struct table *seeds, const struct seed_key *key)
{
	char date[32];

	for (size_t r = 0; r < seeds->row_count; r++)
		if (same_seed(seeds, r, key) && same_model(seeds, r, key))
			return r;
	const size_t row = table_add_row(seeds);
	table_set_int(seeds, row, "seed", key->seed);
	table_set_text(seeds, row, "date", clock_utc(date));
	table_set_text(seeds, row, "fathom", cli_version());
	table_set_text(seeds, row, "profile_sha256", key->profile);
	table_set_text(seeds, row, "model", key->model);
	return row;
}

bool seeds_seen(const struct table *seeds, const struct seed_key *key)
{
	for (size_t r = 0; r < seeds->row_count; r++)
		if (same_seed(seeds, r, key) && !same_model(seeds, r, key) &&
		        table_real(seeds, r, "cases") > 0)
			return true;
	return false;
}
