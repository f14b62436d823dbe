/* SPDX-License-Identifier: MIT */
#include "host_load.h"

#include "clock.h"
#include "small_file.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *counters = "/proc/stat";

void host_load_from(const char *stat)
{
	counters = stat;
}

/* Seconds of all processors; NaN: the counters do not say. */
static double all_seconds(void)
{
	char text[256];
	double user, nice, system, idle, wait, interrupts, late_interrupts;

	/* time of other virtual machines comes behind these */
	if (!small_file_line(counters, "cpu ", text, sizeof text) ||
	        sscanf(text, "%lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait,
	                &interrupts, &late_interrupts) != 7)
		return NAN;
	return (user + nice + system + interrupts + late_interrupts) / (double)sysconf(_SC_CLK_TCK);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

struct host_load host_load_now(void)
{
	struct rusage used;
	struct host_load now = {all_seconds(), NAN, clock_now()};

	if (getrusage(RUSAGE_SELF, &used) == 0)
		now.own = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
	return now;
}

double host_load_others(struct host_load from, struct host_load to)
{
	const double others = (to.all - from.all) - (to.own - from.own);

	return to.when > from.when ? fmax(others, 0 * others) / (to.when - from.when) : NAN;
}

bool host_load_is_high(double others)
{
	return others > (double)sysconf(_SC_NPROCESSORS_ONLN) / 2;
}
