/* SPDX-License-Identifier: MIT */
#include "surface_work.h"

#include <math.h>
#include <string.h>

static const struct surface *const tables[] = {
        surfaces_streams, surfaces_qr, surfaces_lu, surfaces_products, surfaces_curves};

const struct surface *surface_of(const char *name)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct surface *s = tables[t]; s->name; s++)
			if (profile_name_matches(name, s->name))
				return s;
	return NULL;
}

/* The part of the name that is one letter: "s" or "d". */
static enum precision precision_of(const char *name)
{
	const char *part = strstr(name, ".d");

	return part && (part[2] == '\0' || part[2] == '.') ? DOUBLE : SINGLE;
}

static const char *argument(const char *marked)
{
	return marked + (*marked == '?' || *marked == '=');
}

bool surface_interpolates(const struct surface *surface, const char *arg)
{
	for (size_t k = 0; surface && k < SURFACE_ARGS && surface->arg[k]; k++)
		if (strcmp(argument(surface->arg[k]), arg) == 0)
			return surface->arg[k][0] != '=';
	return strcmp(arg, "level") != 0; /* levels are separate cases */
}

size_t surface_works_at(const struct surface *surface, const struct tuning *tuning,
        const char *name, const char *const *arg, const double *at, size_t count,
        struct kernel_work *work)
{
	struct surface_point p = {tuning, name, precision_of(name), {0}};

	for (size_t k = 0; k < SURFACE_ARGS && surface->arg[k]; k++) {
		const bool may_lack = surface->arg[k][0] == '?';
		const char *wanted = argument(surface->arg[k]);
		size_t i = 0;
		while (i < count && strcmp(arg[i], wanted) != 0)
			i++;
		if (i == count && !may_lack)
			return 0;
		p.at[k] = i < count ? at[i] : NAN;
	}
	memset(work, 0, SURFACE_WORKS * sizeof *work);
	return surface->work(&p, work);
}

size_t surface_works(
        const struct tuning *tuning, const struct parameter *row, struct kernel_work *work)
{
	const struct surface *surface = surface_of(row->name);

	return surface ? surface_works_at(surface, tuning, row->name,
	                         (const char *const *)row->arg_name, row->arg, row->arg_count, work)
	               : 0;
}
