/* SPDX-License-Identifier: MIT */
/* Shared by the sweeps of GPU probes: opening the device, and one point from plan to row. */
#pragma once

#include "lib/device/gpu.h"
#include "probe.h"

/* Opens the device that the command line names and notes it (probe_watch_gpu). Ends the probe as
 * not possible when there is none. */
void probe_open_gpu(struct probe_run *run, struct gpu *gpu);

/* Opens all visible devices, at most `most`, and the one that the command line names, and notes
 * them. Returns their number. Ends the probe as not possible where there are fewer than two. */
int probe_open_gpus(struct probe_run *run, struct gpu *named, struct gpu *gpu, int most);

/* In a run under a profiler: puts the wanted point's call into the stream (gpu_profile) and ends
 * the program, because other points would only be filled and checked. Nothing in other runs. */
void probe_profile(
        const struct probe_run *run, void (*put)(void *context), void *context, void *stream);

/* Takes samples by the plan and records them; ends the probe when measuring fails. */
void probe_measure(struct probe_run *run, const char *series, const struct arg *args,
        size_t arg_count, sample_function function, void *context, const struct sample_plan *plan,
        double max_hz);
