/* SPDX-License-Identifier: MIT */
/* The host's monotonic clock. */
#ifndef FATHOM_CLOCK_H
#define FATHOM_CLOCK_H

#include "lib/base/base.h"

/* Seconds since an arbitrary start, CLOCK_MONOTONIC_RAW. */
double clock_now(void);

/* Smallest difference seen between two consecutive readings, seconds (measured once). */
double clock_resolution(void);

/* Clock of the core this thread runs on, Hz, from dependent adds of one cycle each: the quickest of
 * a few rows of 10^5, as a preempted row only gets slower. NaN on processors it does not know.
 * Takes about 0.2 ms. */
double clock_core_hz(void);

/* Independent adds that the core this thread runs on makes for it, by the second and by the cycle
 * (of dependent adds). Work on the core's other hardware thread, which a virtual machine does not
 * show, takes up to half of both; a lower clock takes its part of the first only. NaN on processors
 * it does not know. Takes about 8 us. */
struct core_rate {
	double by_second, by_cycle;
};
struct core_rate clock_core_rate(void);

/* Date and time in UTC, "2026-11-21T03:29:06Z". */
const char *clock_utc(char text[32]);

#endif
