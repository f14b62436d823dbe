/* SPDX-License-Identifier: MIT */
/* Cores that a thread has for itself. A virtual machine's processors are hardware threads of cores
 * whose other thread may belong to somebody else, and no fact of the machine tells: only what a
 * core does in a time (clock_core_rate). Measurements go to the quietest cores, and samples taken
 * while a core did clearly less for us than usual are taken again (struct sample: disturbed). */
#ifndef FATHOM_QUIET_H
#define FATHOM_QUIET_H

#include "base.h"
#include "clock.h"
#include "table.h"
#include "topology.h"

struct quiet {
	const struct topology *topology;
	int cores;
	int *order;             /* the cores (logical indices), the quietest first */
	double *rate;           /* adds a second of each core when they were ranked; NaN: unknown */
	double *usual;          /* adds a cycle of each core, the most of all rankings */
	double opened, seconds; /* when it began, and what went into ranking */
};

/* Visits every core with the calling thread, which is bound to the quietest one afterwards, as
 * topology_bind does. The topology must outlive it. */
void quiet_open(struct quiet *quiet, const struct topology *topology, int cores);
void quiet_close(struct quiet *quiet);

/* Ranks again when the quietest core, to which the calling thread is bound, is shared by now; a
 * small part of the time at most goes into that. To be called between points. */
void quiet_refresh(struct quiet *quiet);

/* Whether the calling thread, which is bound to this core, has as much of it as usual. */
bool quiet_undisturbed(const struct quiet *quiet, int core);

/* Notes in the metadata which cores were shared when they were ranked. */
void quiet_note(const struct quiet *quiet, struct table *curve);

/* The rules by themselves. Order: by rate, in steps so wide that cores which differ by their
 * clocks alone stay in their own order; unknown ones last. Less: clearly less than usual; never of
 * what is unknown. */
void quiet_order(const double *rate, int cores, int *order);
bool quiet_less(double now, double usual);

#endif
