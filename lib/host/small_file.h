/* SPDX-License-Identifier: MIT */
/* Lines of small files of the system, as in /proc and /sys. */
#pragma once

#include "lib/base/base.h"

/* The rest of the first line that begins with `start`, without its newline. False, and text empty,
 * when there is no such line. */
bool small_file_line(const char *path, const char *start, char *text, int size);

/* The number at the beginning of that rest. False when there is none. */
bool small_file_number(const char *path, const char *start, double *value);
