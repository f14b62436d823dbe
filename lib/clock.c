/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "clock.h"

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

const char *clock_utc(char text[32])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return text;
}
