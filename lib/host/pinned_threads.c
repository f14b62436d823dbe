/* SPDX-License-Identifier: MIT */
#include "pinned_threads.h"
#include "allowance.h"
#include "clock.h"

#include "lib/base/msg.h"
#include "lib/stats/stats.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* From this many cores on, one core in so many is left to the system. */
enum { LARGE_MACHINE = 8, READINGS = 15 };

int pinned_largest(int cores)
{
	return cores >= LARGE_MACHINE ? cores - cores / LARGE_MACHINE : cores;
}

bool pinned_open(struct pinned_threads *pinned, bool quick, struct fault *fault)
{
	memset(pinned, 0, sizeof *pinned);
	pinned->topology = topology_host(fault);
	if (!pinned->topology)
		return false;
	topology_facts(pinned->topology, &pinned->facts);
	host_threads_all();
	const int usable = host_threads(); /* before a core is taken */
	pinned->cores = pinned->facts.cores > 0 && pinned->facts.cores < usable
	                        ? pinned->facts.cores
	                        : usable;
	pinned->cores = pinned_largest(pinned->cores);
	for (int n = 1; n < pinned->cores && pinned->size_count < PINNED_SIZES - 1; n *= 2)
		pinned->size[pinned->size_count++] = n;
	pinned->size[pinned->size_count++] = pinned->cores;
	/* hwloc may know no cores; threads then have places in the order, too */
	core_noise_open(&pinned->noise, pinned->topology,
	        pinned->facts.cores > 0 ? pinned->facts.cores : pinned->cores, -1, quick);
	pinned->usual = xcalloc((size_t)pinned->cores, sizeof *pinned->usual);
	return true;
}

void pinned_close(struct pinned_threads *pinned)
{
	core_noise_close(&pinned->noise);
	free(pinned->usual);
}

void pinned_warm(struct pinned_threads *pinned, double seconds)
{
	double end = clock_now() + seconds;

	pinned_bind(pinned, 1);
	while (clock_now() < end)
		;
}

/* Binds thread i to the i-th core in the order, and reads the rate of each while all run. */
static void bind_and_read(struct pinned_threads *pinned, int threads)
{
#pragma omp parallel num_threads(threads)
	{
		const int id = omp_get_thread_num();
#pragma omp critical
		topology_bind(pinned->topology, -1, pinned->noise.order[id], pinned->binding);
#pragma omp barrier
		double by_cycle[READINGS];
		for (int i = 0; i < READINGS; i++)
			by_cycle[i] = clock_core_rate().by_cycle;
		pinned->usual[id] = stats_median(by_cycle, READINGS);
	}
}

/* Exchanges shared cores of the threads for cores from *spare on in the order. False when no core
 * was exchanged. */
static bool exchange_shared(struct pinned_threads *pinned, int threads, int *spare)
{
	int *order = pinned->noise.order, before = *spare;

	for (int id = 0; id < threads && *spare < pinned->noise.cores; id++) {
		const int core = order[id], other = order[*spare];
		if (!core_noise_less(pinned->usual[id], pinned->noise.usual) ||
		        !(pinned->noise.rate[other] > 0))
			continue;
		order[id] = other;
		order[(*spare)++] = core;
	}
	return *spare > before;
}

void pinned_bind(struct pinned_threads *pinned, int threads)
{
	int spare = threads;

	if (pinned->threads > 0)
		core_noise_refresh(&pinned->noise);
	pinned->threads = threads;
	bind_and_read(pinned, threads);
	/* More threads share cores in any case. */
	while (2 * threads <= pinned->cores && exchange_shared(pinned, threads, &spare))
		bind_and_read(pinned, threads);
	if (threads == 1) /* the core may have been shared just now */
		pinned->usual[0] = fmax(pinned->usual[0], pinned->noise.usual);
}

bool pinned_undisturbed(const struct pinned_threads *pinned)
{
	int disturbed = 0;

#pragma omp parallel num_threads(pinned->threads) reduction(+ : disturbed)
	disturbed +=
	        core_noise_less(clock_core_rate().by_cycle, pinned->usual[omp_get_thread_num()]);
	return disturbed == 0;
}

bool pinned_disturbed_around(const struct pinned_threads *pinned, bool *undisturbed)
{
	const bool before = *undisturbed;

	*undisturbed = pinned_undisturbed(pinned);
	return !before || !*undisturbed;
}
