/* SPDX-License-Identifier: MIT */
/* A foreign kernel on the GPU: its data, a checked run, and its time. */
#pragma once

#include "foreign.h"
#include "lib/device/gpu.h"

struct foreign_run {
	const struct foreign_kernel *kernel;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	void *stream;
	void *piece[FOREIGN_PIECES]; /* device memory */
	double empty;                /* seconds between two stamps with nothing between */
};

/* Stream and stamps, for all kernels; then a kernel's memory with random input. Without memory
 * enough the program ends as not possible. */
void foreign_open(struct foreign_run *run, const struct gpu *gpu);
void foreign_load(struct foreign_run *run, const struct foreign_kernel *kernel, uint64_t seed);
void foreign_unload(struct foreign_run *run);
void foreign_close(struct foreign_run *run);

/* Whether all blocks of a cooperative kernel fit on the GPU; true of other kernels. Runs it. */
bool foreign_fits(struct foreign_run *run);

/* One run, to completion, and whether its result is the host's; and one run for a profiler. */
bool foreign_is_correct(struct foreign_run *run);
void foreign_profile(struct foreign_run *run);

/* Seconds from start to start of warm runs that follow each other in a stream. */
struct estimate foreign_seconds(struct foreign_run *run);
