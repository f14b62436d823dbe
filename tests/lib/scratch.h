/* SPDX-License-Identifier: MIT */
/* A folder for the files of one test program, which scratch_close removes. */
#pragma once

#include "lib/base/msg.h"
#include "tests/tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "/tmp/fathom-test-XXXXXX";

static inline void scratch_open(void)
{
	if (!mkdtemp(scratch))
		skip_all("no room in /tmp");
}

static inline void scratch_close(void)
{
	char *remove_all = xasprintf("rm -rf '%s'", scratch);

	ok(system(remove_all) == 0, "cleaned up");
	free(remove_all);
}

/* A path in the folder; it lasts until the fourth call from now. */
static inline char *in_scratch(const char *name)
{
	static char path[4][128];
	static size_t next;
	char *text = path[next++ % ARRAY_LEN(path)];

	snprintf(text, sizeof path[0], "%s/%s", scratch, name);
	return text;
}

/* Writes a file, and the folders that its name has. Returns its path. */
static inline char *put_bytes(const char *name, const char *bytes, size_t length)
{
	char *path = in_scratch(name);

	for (char *slash = path + sizeof scratch; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0777);
	}
	FILE *out = fopen(path, "w");
	if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0)
		abort();
	return path;
}

static inline char *put_text(const char *name, const char *text)
{
	return put_bytes(name, text, strlen(text));
}
