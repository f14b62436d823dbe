/* SPDX-License-Identifier: MIT */
/* What the programs that answer from a profile share: the profile's folder, and the profile with
 * the user's what-ifs. On an error they end the program with one sentence. */
#pragma once

#include "lib/base/cli.h"
#include "lib/device/machine.h"
#include "lib/profile/profile.h"

/* Where a question goes, as the command line says. */
struct profile_context_question {
	const char *machine;        /* --machine, or NULL */
	const char *given;          /* the folder of --output, or `preset` */
	const char *preset;         /* what `given` is when the user has not set it */
	const char *own;            /* a program that writes there reads this folder by default,
	                               whatever the environment names; NULL: machine_data_folder() */
	const struct cli_list *set; /* --set NAME=VALUE, each applied to the profile */
	bool about_gpu;             /* only a profile with a GPU can answer */
};

struct profile_context_source {
	char *folder;                /* of the profile */
	char choice[MACHINE_CHOICE]; /* one sentence: the folder, and why */
	bool recorded;               /* the recorded machine answers for one without a GPU */
};

/* The place of the user's word among the known ones: `count`, or fewer up to a NULL. */
size_t profile_context_word(
        const char *text, const char *const *words, size_t count, const char *what);

/* Whether a what-if names a parameter of a GPU or of its link to the host. */
bool profile_context_set_gpu(const struct cli_list *set);

/* The profile that answers. A question about a GPU goes to the recorded machine where the user has
 * named no folder and this machine's profile has no GPU; a line on stderr says so. The caller frees
 * the profile and source->folder. */
struct profile *profile_context_open(
        const struct profile_context_question *question, struct profile_context_source *source);

/* Adds the source to the metadata of an answer's table. */
void profile_context_stamp(struct table *table, const struct profile_context_source *source);
