/* SPDX-License-Identifier: MIT */
/* A new fit replaces the profile of a folder. Where curves are not there, the parameters of their
 * probes stay as the old profile has them. */
#pragma once

#include "lib/profile/profile.h"

struct probe_kept {
	struct profile *old; /* NULL: there is none that can be read */
	char *probes;        /* of it, without a curve; "": none */
	size_t rows;         /* that were added */
};

/* The folder's profile; measured: the probes that have a curve. */
struct probe_kept probe_kept_read(
        const char *folder, const char *const *measured, size_t measured_count);

/* Adds the old rows whose names the profile lacks, and says in one line of which probes they are.
 * Rows of another machine than this (NULL: unknown) are left out, which is said, too. */
void probe_kept_add(
        struct profile *profile, struct probe_kept *kept, const char *machine, const char *folder);

/* Where rows were kept: their probes, dates and machine, in the metadata of the new profile. */
void probe_kept_note(struct table *table, const struct probe_kept *kept);

void probe_kept_free(struct probe_kept *kept);
