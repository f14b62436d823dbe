/* SPDX-License-Identifier: MIT */
/* Shared by the files of the concurrency probe: streams, buffers, and the current point. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "lib/probe/probe_noise.h"
#include "concurrency.h"

#include <cuda_runtime_api.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };
enum {
	BRANCHES = 6,
	KERNELS_MOST = 256,       /* at once */
	OVERLAP_BYTES = 32 * MIB, /* of a transfer beside a kernel */
	ROW_BYTES = 16,           /* of transfers that keep an engine busy */
	ROW_PITCH = 64,           /* in device memory */
	ROWS = 64 * KIB,
};

static const double kernel_seconds = 0.7e-3; /* nominal length of a kernel beside a transfer */

enum work { ARITHMETIC, MEMORY, TO_DEVICE, TO_HOST, ROWS_TO_DEVICE, ROWS_TO_HOST };

/* What stands between the kernels of a chain. */
enum turn { TURN_NONE, TURN_TO_DEVICE, TURN_TO_HOST };

struct branch {
	enum work work;
	int blocks, threads; /* of arithmetic */
	double seconds;      /* nominal, of arithmetic */
	int64_t bytes;       /* of a transfer */
};

struct concurrency {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t lead, stream[BRANCHES];
	cudaEvent_t fork, done[BRANCHES];
	cudaStream_t *many;    /* KERNELS_MOST */
	struct gpu_span *span; /* pinned: one per stream of many, the last two for priorities */
	char *host, *device, *from, *to;
	int64_t memory_bytes;
	int passes;
	unsigned *word, *copied;
	float *sink;
	uint64_t random;

	/* the current point */
	struct branch branch[BRANCHES];
	int branches, kernels;
	bool beside;        /* a long grid of the least priority */
	cudaStream_t upper; /* where the urgent kernel goes */
	bool held, busy, stream_wait;
	enum turn turn;
	double phase; /* of an urgent launch, 0 .. 1 */
	uint64_t stay;
};

static inline void finish(void)
{
	GPU(cudaGetLastError());
	GPU(cudaDeviceSynchronize());
}

static inline bool held_in_time(const struct concurrency *c)
{
	if (!gpu_hold_ok(c->hold))
		msg_warn("a held stream ran out of time");
	return gpu_hold_ok(c->hold);
}

/* Samples (concurrency_samples.c); their argument is a struct concurrency. */

void concurrency_put(const struct concurrency *c, int i);
bool concurrency_busy_start(const struct concurrency *c, int count);

bool concurrency_batch_sample(void *argument, struct sample *sample);
bool concurrency_kernels_sample(void *argument, struct sample *sample);
bool concurrency_enqueue_sample(void *argument, struct sample *sample);
bool concurrency_chain_sample(void *argument, struct sample *sample);
bool concurrency_urgent_sample(void *argument, struct sample *sample);

/* In concurrency_queue.c and concurrency_setup.c. */

void concurrency_queue(struct probe_run *run, struct concurrency *c, bool copies);
void concurrency_set_up(struct concurrency *c, bool quick);
void concurrency_run_once(struct concurrency *c);
void concurrency_clean_up(struct concurrency *c);
