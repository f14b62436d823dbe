/* SPDX-License-Identifier: MIT */
/* Profiles: read, looked up at, beside and beyond their rows, changed by what-ifs, printed. */
#include "fuzz.h"

#include "lib/base/msg.h"
#include "lib/profile/profile.h"

#include <stdlib.h>
#include <stdio.h>

enum { MOST_ROWS = 16 };

static void look_up(const struct profile *profile, const struct parameter *row)
{
	static const double factor[] = {1, 1.5, 1e3, -1, 0};

	for (size_t f = 0; f < ARRAY_LEN(factor); f++) {
		struct arg arg[PROFILE_ARGS];
		double low, high;
		for (size_t a = 0; a < row->arg_count; a++) {
			arg[a] = (struct arg){row->arg_name[a], factor[f] * row->arg[a]};
			profile_range(profile, row->name, row->arg_name[a], &low, &high);
		}
		profile_get(profile, row->name, arg, row->arg_count);
		profile_interpolate(profile, PROFILE_LINEAR, row->name, arg, row->arg_count);
	}
}

static void change(struct profile *profile, const char *name)
{
	struct fault fault;
	char *set = xasprintf("%s=2us", name), *scale = xasprintf("%s=3", name);

	profile_set(profile, set, &fault);
	profile_scale(profile, scale, &fault);
	free(set);
	free(scale);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = {.text = ""};
	struct profile *profile = profile_read(fuzz_file(data, size), &fault);

	fuzz_require(profile || fault.text[0]);
	if (!profile)
		return 0;
	for (size_t i = 0; i < profile->count && i < MOST_ROWS; i++)
		look_up(profile, &profile->row[i]);
	struct profile *changed = profile_copy(profile);
	for (size_t i = 0; i < profile->count && i < MOST_ROWS; i++) {
		char *name = profile_row_name(&profile->row[i]);
		change(changed, name);
		free(name);
	}
	profile_print(changed, true, stdout);
	profile_print_counts(profile, stdout);
	table_free(profile_to_table(changed));
	profile_free(changed);
	profile_free(profile);
	return 0;
}
