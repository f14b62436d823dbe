/* SPDX-License-Identifier: MIT */
/* A quiet core (core_noise.h) for the calling thread of a GPU probe that times with the host's
 * clock: what a call costs the host doubles where somebody else works on the other hardware thread.
 */
#ifndef FATHOM_PROBE_NOISE_H
#define FATHOM_PROBE_NOISE_H

#include "lib/device/gpu.h"
#include "probe.h"

/* Binds the calling thread to the quietest core, of the GPU's NUMA node when that is known, and
 * notes in the metadata which. Threads that libraries start from then on are bound, too: call it
 * when they have theirs. */
void probe_noise_take(struct probe_run *run, const struct gpu *gpu);

/* The calling thread is bound as before, until it takes the core again. */
void probe_noise_leave(struct probe_run *run);

/* The end of the process's measurements; NULL is allowed. */
void probe_noise_close(struct probe_noise *host);

/* Samples between probe_noise_take and probe_noise_leave, as core_noise_sample_run does; where the
 * cores are unknown as sample_run does. */
bool probe_noise_sample(struct probe_run *run, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result);

#endif
