/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "team.h"
#include "clock.h"

#include "msg.h"
#include "stats.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* From this many cores on one in so many is left to the system. */
enum { LARGE_MACHINE = 8, READINGS = 15 };

int team_largest(int cores)
{
	return cores >= LARGE_MACHINE ? cores - cores / LARGE_MACHINE : cores;
}

bool team_open(struct team *team, struct fault *fault)
{
	memset(team, 0, sizeof *team);
	team->topology = topology_host(fault);
	if (!team->topology)
		return false;
	topology_facts(team->topology, &team->facts);
	const int usable = omp_get_num_procs(); /* before a core is taken */
	team->cores =
	        team->facts.cores > 0 && team->facts.cores < usable ? team->facts.cores : usable;
	team->cores = team_largest(team->cores);
	for (int n = 1; n < team->cores && team->size_count < TEAM_SIZES - 1; n *= 2)
		team->size[team->size_count++] = n;
	team->size[team->size_count++] = team->cores;
	quiet_open(&team->quiet, team->topology, team->facts.cores, -1);
	team->usual = xcalloc((size_t)team->cores, sizeof *team->usual);
	return true;
}

void team_close(struct team *team)
{
	quiet_close(&team->quiet);
	free(team->usual);
}

void team_warm(struct team *team, double seconds)
{
	double end = clock_now() + seconds;

	team_bind(team, 1);
	while (clock_now() < end)
		;
}

/* Binds thread i to the i-th core in the order, and reads what each does while all of them run. */
static void bind_and_read(struct team *team, int threads)
{
#pragma omp parallel num_threads(threads)
	{
		const int id = omp_get_thread_num();
#pragma omp critical
		topology_bind(team->topology, -1, team->quiet.order[id], team->binding);
#pragma omp barrier
		double by_cycle[READINGS];
		for (int i = 0; i < READINGS; i++)
			by_cycle[i] = clock_core_rate().by_cycle;
		team->usual[id] = stats_median(by_cycle, READINGS);
	}
}

/* Cores that two threads of the team share, or one and somebody else, for others, from *spare on in
 * the order. False when there were none such. */
static bool exchange_shared(struct team *team, int threads, int *spare)
{
	int *order = team->quiet.order, before = *spare;

	for (int id = 0; id < threads && *spare < team->quiet.cores; id++) {
		const int core = order[id], other = order[*spare];
		if (!quiet_less(team->usual[id], team->quiet.usual) ||
		        !(team->quiet.rate[other] > 0))
			continue;
		order[id] = other;
		order[(*spare)++] = core;
	}
	return *spare > before;
}

void team_bind(struct team *team, int threads)
{
	int spare = threads;

	if (team->threads > 0)
		quiet_refresh(&team->quiet);
	team->threads = threads;
	bind_and_read(team, threads);
	/* of a larger team many share a core in any case */
	while (2 * threads <= team->cores && exchange_shared(team, threads, &spare))
		bind_and_read(team, threads);
	if (threads == 1) /* it may have been shared just now */
		team->usual[0] = fmax(team->usual[0], team->quiet.usual);
}

bool team_undisturbed(const struct team *team)
{
	int disturbed = 0;

#pragma omp parallel num_threads(team->threads) reduction(+ : disturbed)
	disturbed += quiet_less(clock_core_rate().by_cycle, team->usual[omp_get_thread_num()]);
	return disturbed == 0;
}

bool team_disturbed_around(const struct team *team, bool *undisturbed)
{
	const bool before = *undisturbed;

	*undisturbed = team_undisturbed(team);
	return !before || !*undisturbed;
}
