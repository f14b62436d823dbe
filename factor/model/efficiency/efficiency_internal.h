/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. Others use efficiency.h. */
#pragma once

#include "efficiency.h"
#include "factor/model/law/law_parts.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"
#include "surface_work.h"

struct efficiency_reader {
	struct cost_hardware base;
	struct profile copy; /* hardware rows of the GPU; shares texts, its marks are its own */
	double parts[PROFILE_PARTS];
	const struct profile *profile;
	bool started;     /* the reader is: most executors of a model never ask */
	const char *name; /* of the row asked for last */
	const struct surface *surface;
	struct cost_reader reader;
};

/* The row after the last of the surface that begins at row i. */
size_t efficiency_surface_end(const struct profile *profile, size_t i);

/* Writes the spread of rows with start and hardware: how far each is from the interpolation between
 * its neighbours, drawn to what is usual of its surface and of like surfaces. */
void efficiency_spread(struct profile *profile);

/* The law's seconds for a call of the host, or for the work of a row without the start of its first
 * launch; NaN: not known. */
double efficiency_seconds(struct efficiency_reader *e, const struct parameter *row);
