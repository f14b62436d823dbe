/* SPDX-License-Identifier: MIT */
/* Core noise: interference of other programs and of other virtual machines with a core. The
 * processors of a virtual machine are hardware threads; the other thread of a core may belong to
 * somebody else, and no fact of the machine tells. So the rate of a core is measured
 * (clock_core_rate). Measurements run on the quietest cores. Samples taken while a core was clearly
 * slower than usual are disturbed (struct sample) and are taken again. */
#pragma once

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
	double *rate;           /* adds a second of each core at the last ranking; NaN: unknown */
	int *kind;              /* of each core: performance and efficiency cores differ */
	double usual;           /* adds a cycle: the most of all cores and rankings */
	double opened, seconds; /* when it began; seconds spent on further rankings */
	double once;            /* seconds of the last ranking */
	double part;            /* largest part of the time for further rankings */
	bool quick;             /* little time for ranking */
};

/* Ranks the cores that the calling thread may run on (of one NUMA node when node >= 0), and binds
 * the thread to the quietest one. Threads that it starts from then on are bound, too. The topology
 * must outlive it. quick: ranks in less time, and hardly ever again. core_noise_close restores the
 * binding. */
void core_noise_open(
        struct core_noise *noise, const struct topology *topology, int cores, int node, bool quick);
void core_noise_close(struct core_noise *noise);

/* Adds a cycle that an earlier process saw on this machine; 0: none. A core with clearly fewer is
 * shared, even when all cores were shared at the ranking. */
void core_noise_expect(struct core_noise *noise, double usual);

/* Restores the binding of the calling thread; binds it to the quietest core again. */
void core_noise_leave(struct core_noise *noise);
void core_noise_return(struct core_noise *noise);

/* Ranks again when the calling thread's core has become shared and time is left for it. To be
 * called between points. */
void core_noise_refresh(struct core_noise *noise);

/* Whether the core of the calling thread has its usual rate now. */
bool core_noise_undisturbed(const struct core_noise *noise);

/* sample_run on the quietest core. Samples before or after which the core was slow are disturbed.
 * When many are, the point is measured again on the core that is then the quietest, and the two
 * measurements are merged (sample_merge). For work that the calling thread does or times alone. */
bool core_noise_sample_run(struct core_noise *noise, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result);

/* Notes in the metadata which cores were shared at the ranking, and the usual adds a cycle. */
extern const char core_adds_key[];
void core_noise_note(const struct core_noise *noise, struct table *curve);

/* The rules themselves. Order: by rate, in steps so wide that cores with different clocks keep
 * their own order; unknown ones last. Less: clearly below usual; false when either is unknown. */
void core_noise_order(const double *rate, int cores, int *order);
bool core_noise_less(double now, double usual);

/* The rate that a core would have alone: the best of all cores of its kind. */
double core_noise_alone(const double *rate, const int *kind, int cores, int core);
