/* SPDX-License-Identifier: MIT */
/* `advise kernel`: the time of any kernel by the hardware law, and of its work in other forms. */
#pragma once

#include "kernel_counters.h"
#include "kernel_input.h"
#include "profile_context.h"

struct kernel_request {
	struct kernel_texts texts;
	const char *file, *ncu;           /* --file and --ncu, or NULL */
	struct kernel_counters described; /* made by kernel_describe */
};

/* Reads the user's description. Ends the program with exit code 2 where it is none. */
void kernel_describe(struct kernel_request *);

/* Answers, and frees the description. describe: prints the machine. */
void advise_kernel(struct kernel_request *, const struct profile_context *,
        void (*describe)(const struct profile_context *, FILE *));
