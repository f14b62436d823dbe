/* SPDX-License-Identifier: MIT */
/* Launches of kernels whose blocks wait for each other: the number of blocks that can be resident
 * at once, and a launch that fails instead of hanging when they cannot. Only in builds with the
 * CUDA Toolkit. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

/* Most blocks of a kernel that the current device holds at once; 0 without cooperative launch. */
int grid_resident(const void *kernel, int threads, size_t shared_bytes);

/* Most clusters of `cluster` blocks that the device holds at once; 0 if it has no clusters of that
 * size. Allows the kernel non-portable sizes. */
int cluster_resident(const void *kernel, int cluster, int threads, size_t shared_bytes);

/* Whether the current device runs clusters of `cluster` blocks of the kernel with that much dynamic
 * shared memory; then the kernel is allowed it. Queried once per context: *last, zero at first,
 * belongs to the calling thread. */
struct cluster_answer {
	uint64_t context; /* current.h */
	bool takes;
	size_t whole;
};
bool cluster_takes(struct cluster_answer *last, const void *kernel, int cluster, int threads,
        size_t shared_bytes);

/* The same with the shared memory, last->whole, that gives each block a multiprocessor to itself:
 * blocks of another kernel would slow down a kernel of few warps that wait for each other. */
bool cluster_takes_alone(struct cluster_answer *last, const void *kernel, int cluster, int threads);

/* Launches kernel(*argument): cooperatively if cluster is 0, else in clusters of that many blocks.
 * Returns the cudaError_t. */
int resident_launch(const void *kernel, int blocks, int cluster, int threads, size_t shared_bytes,
        void *argument, void *stream);

/* The same in clusters, for a kernel that waits itself for the kernel before it
 * (lib/device/early_launch.cuh). */
int early_cluster_launch(const void *kernel, int blocks, int cluster, int threads,
        size_t shared_bytes, void *argument, void *stream);

C_END
