/* SPDX-License-Identifier: MIT */
#include "profile_context.h"

#include "lib/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *profile_context_folder(
        const char *machine, const char *given, const char *preset, char choice[MACHINE_CHOICE])
{
	if (machine && given != preset)
		msg_die(EXIT_BAD_USAGE, "--machine and --output both name a data folder: give one");
	if (given != preset) {
		snprintf(choice, MACHINE_CHOICE, "data: %.160s (given by --output)", given);
		return given;
	}
	if (machine) {
		if (!machine[0] || strchr(machine, '/'))
			msg_die(EXIT_BAD_USAGE, "--machine takes the name of a folder in data/");
		unsetenv("FATHOM_DATA");
		setenv("MACHINE", machine, 1);
	}
	return machine_data_choose(choice);
}

struct profile *profile_context_profile(const char *folder, const struct cli_list *set)
{
	struct fault fault;
	char *path = xasprintf("%s/profile.tsv", folder);
	struct profile *profile = profile_read(path, &fault);

	if (!profile)
		msg_die(EXIT_MEASURE_FAILED, "%s; make probe writes one for this machine",
		        fault.text);
	for (size_t i = 0; i < set->count; i++)
		if (!profile_set(profile, set->item[i], &fault))
			msg_die(EXIT_BAD_USAGE, "%s", fault.text);
	free(path);
	return profile;
}
