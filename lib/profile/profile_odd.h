/* SPDX-License-Identifier: MIT */
/* The odd one of several GPUs, links or hosts of one kind: slower than the median of the others by
 * more than 5 %, with an interval that does not reach it. */
#pragma once

#include "profile.h"

/* Whether the row has a value that is compared with those of other GPUs, pairs or hosts. */
bool profile_is_compared(const struct parameter *row);

/* The median of the other rows of this name; NaN without any. */
double profile_others(const struct profile *profile, const struct parameter *row);

bool profile_is_odd(const struct parameter *row, double others);

/* "GPU 0 to GPU 3", "GPU 2", or "GPU". Returns text. */
char *profile_odd_part(const struct parameter *row, char *text, size_t size);

/* Warns of an odd row in one line; host: its name, or "". */
void profile_warn_odd(const struct parameter *row, double others, const char *host);

/* Warns of all odd rows of a profile, a line each, and returns how many there are. */
size_t profile_say_odd(const struct profile *profile);
