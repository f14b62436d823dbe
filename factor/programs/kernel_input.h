/* SPDX-License-Identifier: MIT */
/* A kernel's work as the user writes it: `key value`, on the command line or in a file. */
#pragma once

#include "factor/kernels/kernel_work.h"
#include "lib/base/cli.h"

#include <stdio.h>

enum { KERNEL_KEYS = 24, KERNELS_OF_A_FILE = 16 };

/* What the user gave: a text by key, NULL where none. */
struct kernel_texts {
	const char *text[KERNEL_KEYS];
};

/* Fills KERNEL_KEYS options whose targets are the texts. */
void kernel_options(struct cli_option *option, struct kernel_texts *texts);

/* Sets the values of the command line. */
bool kernel_set_texts(
        struct kernel_work *work, const struct kernel_texts *texts, struct fault *fault);

/* Reads lines `key value`; # begins a comment. A line `kernel NAME` begins a kernel, which follows
 * the one above; a file of one kernel needs none. The number of kernels, 0 with a fault. */
size_t kernel_read_file(
        struct kernel_work work[KERNELS_OF_A_FILE], const char *path, struct fault *fault);

/* Whether the work has a grid, which its clusters divide. A block that reads waits for one load at
 * least. */
bool kernel_complete(struct kernel_work *work, struct fault *fault);

/* Whether a GPU with clusters of that many blocks at most can run it. */
bool kernel_fits(const struct kernel_work *work, int max_cluster, struct fault *fault);
