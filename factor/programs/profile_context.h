/* SPDX-License-Identifier: MIT */
/* What the programs that answer from a profile share: the profile's folder, and the profile with
 * the user's what-ifs. On an error they end the program with one sentence. */
#pragma once

#include "factor/tuning/tuning.h"
#include "lib/base/cli.h"
#include "lib/device/machine.h"
#include "lib/profile/profile.h"

struct profile_context {
	/* Where a question goes, as the command line says. */
	struct cli_common common; /* output: `preset` unless the user sets it */
	const char *preset;
	const char *machine;        /* --machine, or NULL */
	const char *calibration;    /* --calibration, or NULL */
	struct cli_list set, scale; /* what-ifs, applied to the profile in this order */
	bool own; /* the program writes into the preset folder and reads it by default, whatever the
	             environment names */
	void (*assume)(struct profile *); /* adds rows, which the what-ifs may change; or NULL */
	int argc;
	char **argv;
	/* Made by profile_context_open. */
	struct profile *profile;     /* after all what-ifs */
	struct profile *measured;    /* before them, with the calibration */
	char sha[65];                /* of its file */
	char *folder;                /* of it */
	char choice[MACHINE_CHOICE]; /* one sentence: the folder, and why */
	bool recorded;               /* the recorded machine answers for one without a GPU */
	char tuning[TUNING_NOTE];    /* "" where its GPU is the one that sizes were measured on */
};

/* Their options, of the context c. */
/* clang-format off */
#define PROFILE_WHAT_IFS(c) \
	{"calibration", 0, CLI_TEXT, &(c).calibration, "NAME|none", \
	        "efficiencies of this recorded machine; none: all 1", 0, 0}, \
	{"set", 0, CLI_LIST, &(c).set, "NAME=VALUE", \
	        "what if: replace a parameter, as in gpu.launch.enqueue=1.0us (repeatable)", 0, 0}, \
	{"scale", 0, CLI_LIST, &(c).scale, "PATTERN=FACTOR", \
	        "what if: multiply parameters, as in gpu.launch.*=0.5 (repeatable)", 0, 0}
/* clang-format on */

/* The place of the user's word among the known ones: `count`, or fewer up to a NULL. */
size_t profile_context_word(
        const char *text, const char *const *words, size_t count, const char *what);

/* Finds the profile that answers. A question about a GPU (about_gpu, or a what-if of a GPU or its
 * link to the host) goes to the recorded machine where the user has named no folder and this
 * machine's profile has no GPU; a line on stderr says so. */
void profile_context_open(struct profile_context *, bool about_gpu);

/* A copy that says what the hardware alone takes, prepared; NULL: it has too few rows. The
 * profile's own timings, or the recorded machine's where it has none, say at which sizes. */
struct profile *profile_context_hardware(const struct profile *);

/* Says which what-ifs no answer has read, and frees. */
void profile_context_close(struct profile_context *);

/* Adds the folder to the metadata of an answer's table. */
void profile_context_stamp(struct table *table, const struct profile_context *);

/* Bytes of the GPU of the profile's folder; 0: unknown. */
double profile_context_memory(const struct profile_context *);
