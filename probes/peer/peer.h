/* SPDX-License-Identifier: MIT */
/* The peer probe: its fit and its kernels. Launches go to `stream`, a cudaStream_t of the current
 * device; errors stay in cudaGetLastError: this is timed. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* Loads are unrolled by PEER_UNROLL; a node is one line. */
enum { PEER_UNROLL = 32, PEER_NODE_BYTES = 128 };

/* Written to pinned memory by a chase. */
struct peer_result {
	struct gpu_span timed;
	uint64_t last; /* where it stopped, and where the next chase starts */
};

/* One thread follows `steps` (a multiple of PEER_UNROLL) absolute pointers from `start`. */
void peer_chase(uint64_t start, int64_t steps, struct peer_result *result, void *stream);

/* Copies with 16-byte accesses from `blocks` blocks; one of the two arrays lies on another device.
 * bytes is a multiple of 16. */
void peer_move(void *to, const void *from, int64_t bytes, int blocks, void *stream);

C_END
