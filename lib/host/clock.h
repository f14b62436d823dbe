/* SPDX-License-Identifier: MIT */
/* The host's monotonic clock, and the clock of a core. */
#pragma once

#include "lib/base/base.h"

/* Seconds since an arbitrary start, CLOCK_MONOTONIC_RAW. */
double clock_now(void);

/* Seconds that the calling thread has had a core. */
double clock_thread(void);

/* Clock of the core of the calling thread, Hz, from 10^5 dependent adds of one cycle each. The
 * quickest of a few rows counts, as a preemption only makes a row slower. NaN on processors other
 * than x86-64 and aarch64. */
double clock_core_hz(void);

/* Independent adds of the core of the calling thread, per second and per cycle (of dependent adds).
 * Work on the core's other hardware thread takes up to half of both; a lower clock lowers only the
 * rate per second. NaN where clock_core_hz is. Short enough to stand beside every sample. */
struct core_rate {
	double by_second, by_cycle;
};
struct core_rate clock_core_rate(void);

/* Date and time in UTC, "2026-11-21T03:29:06Z". */
const char *clock_utc(char text[32]);
