/* SPDX-License-Identifier: MIT */
/* Shared by the files of the collective probe: devices, series and their points. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/device/nccl_calls.h"
#include "lib/device/words.h"
#include "lib/probe/probe.h"

#include <cuda_runtime_api.h>

enum { DEVICES_MOST = 16, MIB = 1 << 20 };

struct device {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream;
	char *source, *target;
	char *host, *returned; /* pinned, host_bytes: the source's data, and what comes back */
	unsigned long long *wrong;
};

struct collective {
	struct probe_run *run;
	struct gpu named; /* the device named by --device */
	struct device device[DEVICES_MOST];
	int count;
	int64_t largest, step; /* bytes of the largest message; factor between sizes */
	int64_t host_bytes;    /* of a transfer */
	double seconds;        /* for one point */
	uint32_t seed;
	struct nccl nccl;
	void *comm[DEVICES_MOST];
};

struct work;

/* One series: the call, to completion on all its devices, or samples of its own; spoil and check:
 * what it writes. */
struct route {
	const char *series, *key; /* key: gpus, or gpu */
	void (*call)(const struct work *work);
	void (*spoil)(const struct work *work);
	void (*check)(const struct work *work);
	sample_function sample; /* NULL: of the call */
};

/* One point: devices first .. first + gpus - 1; bytes of the whole message, or for each device. */
struct work {
	struct collective *all;
	const struct route *route;
	int first, gpus;
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

/* Devices of a point, one after another. */
static inline struct device *device_of(const struct work *work, int i)
{
	return &work->all->device[work->first + i];
}

/* Takes the samples of a point, checks what arrived and records it. counted: bytes of the point as
 * the curve counts them; key_value: of the route's key. */
void collective_measure_point(struct work *work, int64_t counted, int key_value);

/* Fills the targets with other data. Ends the program where words of a target are not those of the
 * owner's source. */
void collective_spoil_targets(const struct work *work);
void collective_require_right(const struct work *work, const struct device *device, int64_t offset,
        int64_t bytes, const struct device *owner);

/* Broadcast, all-reduce and all-gather, where NCCL is. */
void collective_measure_nccl(struct collective *all);

/* Ends the program when a call of NCCL has failed; when a broadcast has not arrived. */
void collective_check_nccl(const struct nccl *nccl, int result, const char *call);
void collective_check_broadcast(const struct work *work);

/* Broadcasts in turns; and the host's share of one. */
extern const struct route collective_turns;
void collective_measure_puts(struct collective *all, int gpus);

/* Transfers with the host, of one GPU after another and of several at once; copies in the memory
 * of each GPU. */
void collective_measure_host(struct collective *all);
