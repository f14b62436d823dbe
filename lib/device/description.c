/* SPDX-License-Identifier: MIT */
#include "description.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *key;
	size_t place;
} keys[] = {
#define KEY(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct description, name)                                          \
	}
        KEY(code),
        KEY(sms),
        KEY(threads_per_sm),
        KEY(shared_per_sm),
        KEY(shared_per_block),
        KEY(max_cluster),
        KEY(l2),
        KEY(integrated),
#undef KEY
};

static bool take_line(const char *line, struct description *description, unsigned *seen)
{
	char key[32];
	int64_t value;

	if (line[0] == '#' || !strncmp(line, "name ", 5))
		return true;
	if (sscanf(line, "%31s %" SCNd64, key, &value) != 2 || value < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(key, keys[i].key)) {
			*(int64_t *)((char *)description + keys[i].place) = value;
			*seen |= 1u << i;
			return true;
		}
	return false;
}

bool description_read(const char *path, struct description *description)
{
	FILE *file = fopen(path, "r");
	char line[512];
	unsigned seen = 0;
	bool good = file != NULL;

	while (good && fgets(line, sizeof line, file))
		good = take_line(line, description, &seen);
	if (file)
		fclose(file);
	return good && seen == (1u << ARRAY_LEN(keys)) - 1;
}
