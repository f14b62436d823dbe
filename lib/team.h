/* SPDX-License-Identifier: MIT */
/* OpenMP teams with one thread bound to each core, for the probes of the host. */
#ifndef FATHOM_TEAM_H
#define FATHOM_TEAM_H

#include "base.h"
#include "quiet.h"
#include "topology.h"

enum { TEAM_SIZES = 16 };

struct team {
	const struct topology *topology;
	struct topology_facts facts;
	struct quiet quiet;
	int threads;          /* bound last ... */
	double *usual;        /* ... and the adds a cycle of each while all of them run */
	int cores;            /* of the largest team: on larger machines some are left to the
	                         system, whose every pause all threads would wait for */
	int size[TEAM_SIZES]; /* 1, 2, 4 ... cores */
	int size_count;
	char binding[128]; /* what the last thread bound obtained */
};

/* Cores of the largest team on a machine of so many. */
int team_largest(int cores);

/* Reads the machine and ranks its cores: teams have the quietest, and the largest one leaves out
 * shared cores first. Call it before any thread of this process is bound. */
bool team_open(struct team *team, struct fault *fault);
void team_close(struct team *team);

/* Keeps the calling thread, bound to the quietest core, busy until the processor's clock has risen.
 */
void team_warm(struct team *team, double seconds);

/* Binds thread i of a team of this size to the i-th quietest core, ranked again when the quietest
 * one is shared by now; a team of half of the cores or fewer leaves out, as far as it can, cores
 * that are hardware threads of each other's. Teams are used in rising order, so that their threads
 * stay. */
void team_bind(struct team *team, int threads);

/* Whether every thread of the team bound last has as much of its core as when it was bound: cores
 * may be each other's hardware threads. */
bool team_undisturbed(const struct team *team);

/* Looks again: whether the team was disturbed at the look before, whose answer *undisturbed is, or
 * is now. */
bool team_disturbed_around(const struct team *team, bool *undisturbed);

#endif
