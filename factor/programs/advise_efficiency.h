/* SPDX-License-Identifier: MIT */
/* `advise efficiency [PATTERN]`: what calibrated kernels and library calls take beyond the hardware
 * law. */
#pragma once

#include "profile_context.h"

/* One line a surface, or with --verbose one a row; pattern: of the surfaces' names, NULL: all.
 * describe: prints the machine. */
void advise_efficiency(const char *pattern, const struct profile_context *,
        void (*describe)(const struct profile_context *, FILE *));
