/* SPDX-License-Identifier: MIT */
/* The folders of recorded data. */
#include "machine.h"

#include "lib/base/home.h"
#include "lib/base/msg.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char recorded_machine[] = "nvidia-h200"; /* the one that comes with fathom */

/* "data/" under the root: relative where the root is the current folder, so that printed paths stay
 * short. */
char *machine_data_root(void)
{
	char *root = home_folder(), there[PATH_MAX], here[PATH_MAX];
	bool current = realpath(root, there) && realpath(".", here) && !strcmp(there, here);
	char *data = xasprintf("%s%sdata", current ? "" : root, current ? "" : "/");
	free(root);
	return data;
}

int machine_day_length(const char *date)
{
	enum { DAY = sizeof "2026-01-31" - 1 };
	const size_t length = strlen(date);

	return length > DAY && date[DAY] == 'T' ? DAY : (int)length;
}

/* The folder of a machine's name: one of a paper, else one in data/. */
static char *named(const char *data, const char *machine)
{
	char *folder = xasprintf("%s/papers/%s", data, machine);

	if (home_holds(folder, "profile.tsv"))
		return folder;
	free(folder);
	return xasprintf("%s/%s", data, machine);
}

static void say(char choice[MACHINE_CHOICE], const char *folder, const char *why)
{
	if (choice)
		snprintf(choice, MACHINE_CHOICE, "data: %.120s (%.120s)", folder, why);
}

/* The folders that were returned last; each is kept for three more calls. */
static const char *keep(char *folder)
{
	static char *kept[4];
	static size_t next;
	char **place = &kept[next++ % ARRAY_LEN(kept)];

	free(*place);
	*place = folder;
	return folder;
}

const char *machine_data_recorded(char choice[MACHINE_CHOICE])
{
	char *data = machine_data_root();
	char *folder = xasprintf("%s/%s", data, recorded_machine);

	free(data);
	say(choice, folder, "recorded; the profile of this machine has no GPU");
	return keep(folder);
}

const char *machine_data_recorded_as(const char *machine)
{
	const char *folder = machine_data_named(machine);

	if (!machine[0] || strchr(machine, '/') || !home_holds(folder, "profile.tsv"))
		msg_die(EXIT_BAD_USAGE,
		        "there is no recorded machine '%s': fathom list names those that are there",
		        machine);
	return folder;
}

const char *machine_data_named(const char *machine)
{
	char *data = machine_data_root(), *folder = named(data, machine);

	free(data);
	return keep(folder);
}

const char *machine_data_choose(char choice[MACHINE_CHOICE])
{
	const char *given = getenv("FATHOM_DATA"), *machine = getenv("MACHINE");
	const char *why = "measured here";
	char *folder, *data = machine_data_root();

	if (given && given[0]) {
		folder = xstrdup(given);
		why = "given by FATHOM_DATA";
	} else if (machine && machine[0]) {
		folder = named(data, machine);
		why = "given by MACHINE";
	} else {
		/* here, where programs write unless told otherwise, or in the checkout */
		folder = xstrdup("data/local");
		if (!home_holds(folder, "profile.tsv")) {
			free(folder);
			folder = xasprintf("%s/local", data);
		}
		if (!home_holds(folder, "profile.tsv")) {
			free(folder);
			folder = xasprintf("%s/%s", data, recorded_machine);
			why = "recorded; this machine is not measured yet, fathom probe does that";
		}
	}
	free(data);
	say(choice, folder, why);
	return keep(folder);
}

bool machine_data_given(void)
{
	const char *given = getenv("FATHOM_DATA"), *machine = getenv("MACHINE");

	return (given && given[0]) || (machine && machine[0]);
}

const char *machine_data_folder(void)
{
	return machine_data_choose(NULL);
}

const char *machine_data_asked(
        const char *machine, const char *output, const char *preset, char choice[MACHINE_CHOICE])
{
	if (machine && output != preset)
		msg_die(EXIT_BAD_USAGE, "--machine and --output both name a data folder: give one");
	if (output != preset) {
		say(choice, output, "given by --output");
		return output;
	}
	if (machine) {
		machine_data_recorded_as(machine);
		unsetenv("FATHOM_DATA");
		setenv("MACHINE", machine, 1);
	}
	return machine_data_choose(choice);
}
