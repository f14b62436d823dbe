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
	int cores;            /* of the largest team: on larger machines some are left to the
	                         system, whose every pause all threads would wait for */
	int size[TEAM_SIZES]; /* 1, 2, 4 ... cores */
	int size_count;
	char binding[128]; /* what the last thread bound obtained */
};

/* Reads the machine. Call it before any thread of this process is bound. */
bool team_open(struct team *team, struct fault *fault);
void team_close(struct team *team);

/* Keeps the calling thread, bound to the first core, busy until the processor's clock has risen. */
void team_warm(struct team *team, double seconds);

/* Binds thread i of a team of this size to core i. Teams are used in rising order, so that their
 * threads stay. */
void team_bind(struct team *team, int threads);

#endif
