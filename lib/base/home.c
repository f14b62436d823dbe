/* SPDX-License-Identifier: MIT */
#include "home.h"

#include "msg.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts the last component off a path. False when there is none left. */
static bool parent(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

bool home_holds(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	bool found = access(path, R_OK) == 0;
	free(path);
	return found;
}

/* The program's own path. */
static void find_self(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
}

/* A checkout has its programs in build/bin; an installed program is in bin or libexec/fathom. */
char *home_folder(void)
{
	const char *home = getenv("FATHOM_HOME");
	if (home && home[0])
		return xstrdup(home);
	char path[PATH_MAX];
	find_self(path);
	for (int level = 0; level < 3 && parent(path); level++) {
		char *share = xasprintf("%s/share/fathom", path);
		if (level > 0 && home_holds(share, "data"))
			return share;
		free(share);
	}
	return xstrdup(home_holds(path, "fathom") && home_holds(path, "data") ? path : ".");
}

char *home_programs(void)
{
	const char *bin = getenv("FATHOM_BIN");
	char path[PATH_MAX];

	find_self(path);
	return xstrdup(bin && bin[0] ? bin : parent(path) ? path : ".");
}

void home_run_script(const char *script, const char *const *words, size_t count)
{
	char *home = home_folder(), *path = xasprintf("%s/%s", home, script);
	char **argv = xcalloc(count + 3, sizeof *argv);

	argv[0] = xstrdup("sh");
	argv[1] = path;
	for (size_t i = 0; i < count; i++)
		argv[i + 2] = xstrdup(words[i]);
	if (access(path, R_OK) != 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "cannot read %s (%s): set FATHOM_HOME to fathom's root", path,
		        strerror(errno));
	execv("/bin/sh", argv);
	msg_die(EXIT_MEASURE_FAILED, "cannot start /bin/sh: %s", strerror(errno));
}
