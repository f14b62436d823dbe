/* SPDX-License-Identifier: MIT */
#include "surface_work.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

static const struct surface *const tables[] = {surfaces_streams, surfaces_curves};

static const struct surface *surface_of(const char *name)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct surface *s = tables[t]; s->name; s++)
			if (fnmatch(s->name, name, 0) == 0)
				return s;
	return NULL;
}

/* The part of the name that is one letter: "s" or "d". */
static enum precision precision_of(const char *name)
{
	const char *part = strstr(name, ".d");

	return part && (part[2] == '\0' || part[2] == '.') ? DOUBLE : SINGLE;
}

size_t surface_works(
        const struct tuning *tuning, const struct parameter *row, struct kernel_work *work)
{
	const struct surface *s = surface_of(row->name);
	struct surface_point p = {tuning, row->name, precision_of(row->name), {0}};

	if (!s)
		return 0;
	for (size_t k = 0; k < SURFACE_ARGS && s->arg[k]; k++) {
		p.at[k] = profile_row_argument(row, s->arg[k]);
		if (isnan(p.at[k]))
			return 0;
	}
	memset(work, 0, SURFACE_WORKS * sizeof *work);
	return s->work(&p, work);
}
