/* SPDX-License-Identifier: MIT */
/* Launching kernels whose blocks wait for each other: how many blocks can be resident at once, and
 * a launch that is refused instead of hanging when they cannot. Only in builds with the CUDA
 * Toolkit. */
#ifndef FATHOM_RESIDENT_H
#define FATHOM_RESIDENT_H

#include "lib/base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most blocks of a kernel that fit on the current device at once; 0 when it cannot launch
 * cooperatively. */
int grid_resident(const void *kernel, int threads, size_t shared_bytes);

/* Most clusters of `cluster` blocks that fit at once; 0 when the device has no clusters of that
 * size. Allows the kernel the non-portable sizes. */
int cluster_resident(const void *kernel, int cluster, int threads, size_t shared_bytes);

/* Whether the current device takes clusters of `cluster` blocks of the kernel with so much dynamic
 * shared memory, which the kernel is allowed then. Asked once a device: *last, zero at first, is
 * the thread's own. */
struct cluster_answer {
	bool asked, takes;
	int device;
	size_t whole;
};
bool cluster_takes(struct cluster_answer *last, const void *kernel, int cluster, int threads,
        size_t shared_bytes);

/* The same with so much, last->whole, that each block has a multiprocessor to itself: blocks of a
 * product beside it take the time of a kernel whose warps are few and wait for one another. */
bool cluster_takes_alone(struct cluster_answer *last, const void *kernel, int cluster, int threads);

/* Launches kernel(*argument): cooperatively for cluster 0, else in clusters of that many blocks.
 * Returns the cudaError_t. */
int resident_launch(const void *kernel, int blocks, int cluster, int threads, size_t shared_bytes,
        void *argument, void *stream);

/* The same in clusters of a kernel that waits for the one before itself (lib/device/early_launch.cuh). */
int early_cluster_launch(const void *kernel, int blocks, int cluster, int threads,
        size_t shared_bytes, void *argument, void *stream);

#ifdef __cplusplus
}
#endif
#endif
