/* SPDX-License-Identifier: MIT */
/* OpenMP teams with one thread bound to each core, for the probes of the host. */
#ifndef FATHOM_PINNED_THREADS_H
#define FATHOM_PINNED_THREADS_H

#include "lib/base/base.h"
#include "core_noise.h"
#include "topology.h"

enum { PINNED_SIZES = 16 };

struct pinned_threads {
	const struct topology *topology;
	struct topology_facts facts;
	struct core_noise noise;
	int threads;            /* bound last ... */
	double *usual;          /* ... and the adds a cycle of each while all of them run */
	int cores;              /* of the largest team: on larger machines some are left to the
	                           system, whose every pause all threads would wait for */
	int size[PINNED_SIZES]; /* 1, 2, 4 ... cores */
	int size_count;
	char binding[128]; /* what the last thread bound obtained */
};

/* Cores of the largest team on a machine of so many. */
int pinned_largest(int cores);

/* Reads the machine and ranks its cores: teams have the quietest, and the largest one leaves out
 * shared cores first. Call it before any thread of this process is bound. quick: as
 * core_noise_open. */
bool pinned_open(struct pinned_threads *pinned, bool quick, struct fault *fault);
void pinned_close(struct pinned_threads *pinned);

/* Keeps the calling thread, bound to the quietest core, busy until the processor's clock has risen.
 */
void pinned_warm(struct pinned_threads *pinned, double seconds);

/* Binds thread i of a team of this size to the i-th quietest core, ranked again when the quietest
 * one is shared by now; a team of half of the cores or fewer leaves out, as far as it can, cores
 * that are hardware threads of each other's. Teams are used in rising order, so that their threads
 * stay. */
void pinned_bind(struct pinned_threads *pinned, int threads);

/* Whether every thread of the team bound last has as much of its core as when it was bound: cores
 * may be each other's hardware threads. */
bool pinned_undisturbed(const struct pinned_threads *pinned);

/* Looks again: whether the team was disturbed at the look before, whose answer *undisturbed is, or
 * is now. */
bool pinned_disturbed_around(const struct pinned_threads *pinned, bool *undisturbed);

#endif
