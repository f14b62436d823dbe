/* SPDX-License-Identifier: MIT */
/* A quiet core (core_noise.h) for the calling thread of a GPU probe that times with the host's
 * clock: work on the core's other hardware thread can double the time of a call. */
#pragma once

#include "lib/device/gpu.h"
#include "probe.h"

/* Binds the calling thread to the quietest core, of the GPU's NUMA node when that is known, and
 * notes the core in the metadata. Threads started later are bound, too: call it after libraries
 * have started theirs. */
void probe_noise_take(struct probe_run *run, const struct gpu *gpu);

/* Restores the calling thread's binding, until it takes the core again. */
void probe_noise_leave(struct probe_run *run);

/* The end of the process's measurements; NULL is allowed. */
void probe_noise_close(struct probe_noise *host);

/* Between probe_noise_take and probe_noise_leave: core_noise_sample_run, or sample_run where the
 * cores are unknown. */
bool probe_noise_sample(struct probe_run *run, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result);
