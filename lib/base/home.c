/* SPDX-License-Identifier: MIT */
#include "home.h"

#include "msg.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* The words of "sh SCRIPT WORD...". */
static char **script_words(const char *script, const char *const *words, size_t count)
{
	char *home = home_folder(), **argv = xcalloc(count + 3, sizeof *argv);

	argv[0] = xstrdup("sh");
	argv[1] = xasprintf("%s/%s", home, script);
	for (size_t i = 0; i < count; i++)
		argv[i + 2] = xstrdup(words[i]);
	if (access(argv[1], R_OK) != 0)
		msg_die(EXIT_MEASURE_FAILED,
		        "cannot read %s (%s): set FATHOM_HOME to fathom's root", argv[1],
		        strerror(errno));
	free(home);
	return argv;
}

static const char shell[] = "/bin/sh";

int home_script(const char *script, const char *const *words, size_t count)
{
	char **argv = script_words(script, words, count);
	int status = 0;
	pid_t child;

	errno = posix_spawn(&child, shell, NULL, NULL, argv, environ);
	if (errno || waitpid(child, &status, 0) < 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot run %s: %s", argv[1], strerror(errno));
	for (char **word = argv; *word; word++)
		free(*word);
	free(argv);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_MEASURE_FAILED;
}

void home_run_script(const char *script, const char *const *words, size_t count)
{
	execv(shell, script_words(script, words, count));
	msg_die(EXIT_MEASURE_FAILED, "cannot start %s: %s", shell, strerror(errno));
}
