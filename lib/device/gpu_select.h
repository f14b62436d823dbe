/* SPDX-License-Identifier: MIT */
/* Which of the visible devices the user means. Needs no GPU. */
#pragma once

#include "lib/base/base.h"

/* A device's names by the driver: "GPU-1a2b...", "0000:17:00.0". */
struct gpu_identity {
	char uuid[64], pci[32];
};

/* text is a number ("0"), a UUID or its start ("GPU-1a2b", of a slice of a GPU "MIG-1a2b"), or a
 * PCI address, with or without domain and function ("17:00"). Returns the device's number, or -1
 * with a fault when the text means none, or more than one. */
int gpu_select(const char *text, const struct gpu_identity *device, int count, struct fault *fault);

/* CUDA shows only the first slice of a GPU (MIG) unless CUDA_VISIBLE_DEVICES names another one.
 * When text names a slice and the variable is not set, sets it: to be called before CUDA starts.
 * True when the only visible device is then the one named. */
bool gpu_show_slice(const char *text);
