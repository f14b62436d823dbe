/* SPDX-License-Identifier: MIT */
/* Shared by the files of the peer probe: devices, series and their points. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/device/words.h"
#include "lib/probe/probe_noise.h"
#include "peer.h"

#include <cuda_runtime_api.h>

enum {
	DEVICES_MOST = 16,
	MIB = 1 << 20,
	LARGE_LEAST = MIB, /* least bytes of both ways, loads and stores */
	NODES = 1 << 14,
};

struct device {
	struct gpu gpu;
	struct gpu_timer *timer;
	cudaStream_t stream;
	char *source, *target;
	uint64_t *nodes;
	unsigned long long *wrong;
	struct peer_result *result; /* pinned */
};

struct peer {
	struct probe_run *run;
	struct gpu named; /* the device named by --device */
	struct device device[DEVICES_MOST];
	int count;
	int64_t largest, step; /* bytes of the largest copy; factor between sizes */
	double seconds;        /* for one point */
	uint64_t seed, random; /* seeds of the data and of the cycles */
};

struct work;

/* One series. stamped_at_target: the stamps go to the target's stream. */
struct route {
	const char *series;
	void (*call)(const struct work *work);
	int64_t least;
	bool stamped_at_target, both;
};

/* One point of a series. */
struct work {
	struct peer *peer;
	const struct route *route;
	struct device *from, *to;
	int64_t bytes;
};

static inline void use(const struct device *device)
{
	GPU(cudaSetDevice(device->gpu.device));
}

static inline void wait_for(const struct device *device)
{
	GPU(cudaStreamSynchronize(device->stream));
}

/* Seed of the data in the device's source. */
uint32_t peer_seed_of(const struct peer *peer, const struct device *device);

/* whole: all series; else copies with peer access, and latency. */
void peer_measure_pair(struct peer *peer, struct device *from, struct device *to, bool whole);
