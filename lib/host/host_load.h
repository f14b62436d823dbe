/* SPDX-License-Identifier: MIT */
/* How many processors other programs keep busy, by the kernel's counters. These programs share
 * memory and its bandwidth with a measurement, even where they leave its core alone. Programs of
 * other virtual machines are not counted (core_noise.h). */
#pragma once

#include "lib/base/base.h"

/* A moment: seconds at work of all processors and of this process, and the time. NaN: unknown. */
struct host_load {
	double all, own, when;
};

struct host_load host_load_now(void);

/* Processors that others kept busy between two moments, at least 0; NaN: unknown. */
double host_load_others(struct host_load from, struct host_load to);

/* Whether so many are more than half of the online processors. */
bool host_load_is_high(double others);

/* Takes the counters from another file than /proc/stat (for tests). */
void host_load_from(const char *stat);
