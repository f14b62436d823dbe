/* SPDX-License-Identifier: MIT */
/* The folders of recorded data. */
#include "machine.h"

#include "lib/base/msg.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char recorded_machine[] = "nvidia-h200"; /* the one that comes with fathom */

/* Cuts the last component off a path. False when there is none left. */
static bool parent(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool holds(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	bool found = access(path, R_OK) == 0;
	free(path);
	return found;
}

/* The folder that holds data/: that of a checkout (its programs are in build/bin), or share/fathom
 * beside an installed program's bin or libexec/fathom; the current folder when neither is there. */
static char *find_root(void)
{
	const char *home = getenv("FATHOM_HOME");
	if (home && home[0])
		return xstrdup(home);
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	path[length > 0 ? length : 0] = '\0';
	for (int level = 0; level < 3 && parent(path); level++) {
		char *share = xasprintf("%s/share/fathom", path);
		if (level > 0 && holds(share, "data"))
			return share;
		free(share);
	}
	return xstrdup(holds(path, "fathom") && holds(path, "data") ? path : ".");
}

/* "data/" under the root: relative where the root is the current folder, so that printed paths stay
 * short. */
static char *find_data(void)
{
	char *root = find_root(), there[PATH_MAX], here[PATH_MAX];
	bool current = realpath(root, there) && realpath(".", here) && !strcmp(there, here);
	char *data = xasprintf("%s%sdata", current ? "" : root, current ? "" : "/");
	free(root);
	return data;
}

/* The folder of a machine's name: one of a paper, else one in data/. */
static char *named(const char *data, const char *machine)
{
	char *folder = xasprintf("%s/papers/%s", data, machine);

	if (holds(folder, "profile.tsv"))
		return folder;
	free(folder);
	return xasprintf("%s/%s", data, machine);
}

static void say(char choice[MACHINE_CHOICE], const char *folder, const char *why)
{
	if (choice)
		snprintf(choice, MACHINE_CHOICE, "data: %.120s (%.120s)", folder, why);
}

/* The folder that was returned last; it is kept until the next call. */
static const char *keep(char *folder)
{
	static char *kept;

	free(kept);
	kept = folder;
	return kept;
}

const char *machine_data_recorded(char choice[MACHINE_CHOICE])
{
	char *data = find_data();
	char *folder = xasprintf("%s/%s", data, recorded_machine);

	free(data);
	say(choice, folder, "recorded; the profile of this machine has no GPU");
	return keep(folder);
}

const char *machine_data_named(const char *machine)
{
	char *data = find_data(), *folder = named(data, machine);

	free(data);
	return keep(folder);
}

const char *machine_data_choose(char choice[MACHINE_CHOICE])
{
	const char *given = getenv("FATHOM_DATA"), *machine = getenv("MACHINE");
	const char *why = "measured here";
	char *folder, *data = find_data();

	if (given && given[0]) {
		folder = xstrdup(given);
		why = "given by FATHOM_DATA";
	} else if (machine && machine[0]) {
		folder = named(data, machine);
		why = "given by MACHINE";
	} else {
		folder = xasprintf("%s/local", data);
		if (!holds(folder, "profile.tsv")) {
			free(folder);
			folder = xasprintf("%s/%s", data, recorded_machine);
			why = "recorded; this machine is not measured yet, make probe does that";
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
