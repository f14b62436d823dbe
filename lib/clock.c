/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "clock.h"

#include <math.h>
#include <time.h>

double clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_resolution(void)
{
	static double smallest;

	if (smallest > 0)
		return smallest;
	double least = 1;
	for (int i = 0; i < 1000; i++) {
		double first = clock_now(), step = clock_now() - first;
		if (step > 0 && step < least)
			least = step;
	}
	return smallest = least;
}

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#endif

enum { ADDS = 100, ADD_ROUNDS = 1000, ADD_ROWS = 5 };

#ifdef ADD
#define ADD10 ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD

/* Adds of two registers: those of a constant take no cycle on some processors. */
static void add_in_a_row(void)
{
	static volatile uint64_t state = 1;
	uint64_t sum = state, term = sum | 1;

	for (int i = 0; i < ADD_ROUNDS; i++)
		__asm__ volatile(ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10
		                 : "+r"(sum)
		                 : "r"(term));
	state = sum;
}

double clock_core_hz(void)
{
	double quickest = INFINITY;

	for (int row = 0; row < ADD_ROWS; row++) {
		double start = clock_now();
		add_in_a_row();
		quickest = fmin(quickest, clock_now() - start);
	}
	return ADDS * ADD_ROUNDS / quickest;
}
#else
double clock_core_hz(void)
{
	return NAN;
}
#endif

const char *clock_utc(char text[32])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return text;
}
