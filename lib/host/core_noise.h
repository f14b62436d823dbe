/* SPDX-License-Identifier: MIT */
/* Cores that a thread has for itself. A virtual machine's processors are hardware threads of cores
 * whose other thread may belong to somebody else, and no fact of the machine tells: only what a
 * core does in a time (clock_core_rate). Measurements go to the quietest cores, and samples taken
 * while a core did clearly less for us than usual are taken again (struct sample: disturbed). */
#ifndef FATHOM_CORE_NOISE_H
#define FATHOM_CORE_NOISE_H

#include "lib/base/base.h"
#include "clock.h"
#include "sample.h"
#include "lib/base/table.h"
#include "topology.h"

struct core_noise {
	const struct topology *topology;
	struct topology_place *before; /* of the calling thread, while it has a quiet core */
	int cores, node;
	int *order;             /* the cores (logical indices), the quietest first */
	double *rate;           /* adds a second of each core when they were ranked; NaN: unknown */
	double usual;           /* adds a cycle, the most of all cores and rankings */
	double opened, seconds; /* when it began, and what went into ranking again ... */
	double once;            /* (the last time) */
	double part;            /* ... which is this part of the time at most */
	bool quick;             /* little time for ranking */
};

/* Visits every core that the calling thread may run on, of one NUMA node when node >= 0, and binds
 * the thread to the quietest one, as topology_bind does. The topology must outlive it. Threads that
 * it starts from then on are bound, too. core_noise_close binds it as before. quick: the cores are
 * ranked in less time, and hardly ever again. */
void core_noise_open(
        struct core_noise *noise, const struct topology *topology, int cores, int node, bool quick);
void core_noise_close(struct core_noise *noise);

/* Adds a cycle that a core of this machine was seen to do before, 0 when it was not: a core with
 * clearly less is shared, even where all were when they were ranked. */
void core_noise_expect(struct core_noise *noise, double usual);

/* The calling thread is bound as before core_noise_open; and to the quietest core again. */
void core_noise_leave(struct core_noise *noise);
void core_noise_return(struct core_noise *noise);

/* Ranks again when the quietest core, to which the calling thread is bound, is shared by now; a
 * small part of the time at most goes into that. To be called between points. */
void core_noise_refresh(struct core_noise *noise);

/* Whether the calling thread, bound to one core, has as much of it as others gave. */
bool core_noise_undisturbed(const struct core_noise *noise);

/* sample_run on the quietest core, ranked again before if need be: samples before or after which
 * the core did less than usual are disturbed. Where those are many the others may have suffered,
 * too: the point is visited again (sample_merge) on the core that is the quietest then. For what
 * the calling thread does or times alone. */
bool core_noise_sample_run(struct core_noise *noise, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result);

/* Notes in the metadata which cores were shared when they were ranked, and the usual adds. */
extern const char core_adds_key[];
void core_noise_note(const struct core_noise *noise, struct table *curve);

/* The rules by themselves. Order: by rate, in steps so wide that cores which differ by their
 * clocks alone stay in their own order; unknown ones last. Less: clearly less than usual; never of
 * what is unknown. */
void core_noise_order(const double *rate, int cores, int *order);
bool core_noise_less(double now, double usual);

#endif
