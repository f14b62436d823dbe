/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "team.h"
#include "clock.h"

#include <omp.h>
#include <string.h>

/* From this many cores on one in so many is left to the system. */
enum { LARGE_MACHINE = 8 };

bool team_open(struct team *team, struct fault *fault)
{
	memset(team, 0, sizeof *team);
	team->topology = topology_load(NULL, fault);
	if (!team->topology)
		return false;
	topology_facts(team->topology, &team->facts);
	int usable = omp_get_num_procs();
	team->cores =
	        team->facts.cores > 0 && team->facts.cores < usable ? team->facts.cores : usable;
	if (team->cores >= LARGE_MACHINE)
		team->cores -= team->cores / LARGE_MACHINE;
	for (int n = 1; n < team->cores && team->size_count < TEAM_SIZES - 1; n *= 2)
		team->size[team->size_count++] = n;
	team->size[team->size_count++] = team->cores;
	return true;
}

void team_close(struct team *team)
{
	topology_free(team->topology);
}

void team_warm(struct team *team, double seconds)
{
	double end = clock_now() + seconds;

	team_bind(team, 1);
	while (clock_now() < end)
		;
}

void team_bind(struct team *team, int threads)
{
#pragma omp parallel num_threads(threads)
	{
#pragma omp critical
		topology_bind(team->topology, -1, omp_get_thread_num(), team->binding);
	}
}
