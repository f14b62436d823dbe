/* SPDX-License-Identifier: MIT */
/* Pinned threads: OpenMP threads bound to one core each, for the probes of the host. */
#pragma once

#include "lib/base/base.h"
#include "core_noise.h"
#include "topology.h"

enum { PINNED_SIZES = 16 };

struct pinned_threads {
	const struct topology *topology;
	struct topology_facts facts;
	struct core_noise noise;
	int threads;   /* bound last */
	double *usual; /* adds a cycle of each of them while all run */
	int cores; /* most threads: a large machine leaves some cores to the system, as all threads
	              would wait for each of its pauses */
	int size[PINNED_SIZES]; /* 1, 2, 4 ... cores */
	int size_count;
	char binding[128]; /* of the last thread bound */
};

/* Most threads on a machine of so many cores. */
int pinned_largest(int cores);

/* Reads the machine and ranks its cores. Threads get the quietest cores. To be called before any
 * thread of this process is bound. quick: as core_noise_open. */
bool pinned_open(struct pinned_threads *pinned, bool quick, struct fault *fault);
void pinned_close(struct pinned_threads *pinned);

/* Keeps the calling thread, bound to the quietest core, busy until the processor's clock has risen.
 */
void pinned_warm(struct pinned_threads *pinned, double seconds);

/* Binds thread i of so many to the i-th quietest core, after a new ranking when the quietest core
 * has become shared. Up to half of the cores, no two threads get hardware threads of one core,
 * where that can be seen. Use rising numbers of threads: threads then stay on their cores. */
void pinned_bind(struct pinned_threads *pinned, int threads);

/* Whether every thread bound last has the rate of its core as when it was bound: cores may be each
 * other's hardware threads. */
bool pinned_undisturbed(const struct pinned_threads *pinned);

/* Looks again. True when the threads were disturbed at the last look (*undisturbed) or are now. */
bool pinned_disturbed_around(const struct pinned_threads *pinned, bool *undisturbed);
