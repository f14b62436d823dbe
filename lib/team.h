/* SPDX-License-Identifier: MIT */
/* OpenMP teams with one thread bound to each core, for the probes of the host. */
#ifndef FATHOM_TEAM_H
#define FATHOM_TEAM_H

#include "base.h"
#include "topology.h"

enum { TEAM_SIZES = 16 };

struct team {
	struct topology *topology;
	struct topology_facts facts;
	int cores;            /* usable ones: the largest team */
	int size[TEAM_SIZES]; /* 1, 2, 4 ... cores */
	int size_count;
	char binding[128]; /* what the last thread bound obtained */
};

/* Reads the machine. Call it before any thread of this process is bound. */
bool team_open(struct team *team, struct fault *fault);
void team_close(struct team *team);

/* Binds thread i of a team of this size to core i. Teams are used in rising order, so that their
 * threads stay. */
void team_bind(struct team *team, int threads);

#endif
