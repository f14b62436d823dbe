/* SPDX-License-Identifier: MIT */
/* Shared by the files of the transfer probe. */
#pragma once

#include "lib/base/base.h"
#include "transfer.h"

#include "lib/device/gpu.h"
#include "lib/device/words.h"
#include "lib/probe/probe.h"

#include <cuda_runtime_api.h>

enum { MIB = 1 << 20 };
/* WRITTEN: pinned, and just written by the calling core, in its caches. */
enum kind { PINNED, WRITTEN, PAGEABLE, COMBINED, MAPPED };
enum direction { TO_DEVICE, TO_HOST, BOTH };

/* Host memory. It begins with data of this seed, up to the bytes last moved there. */
struct buffer {
	char *host;
	void *mapped; /* its address for a kernel, or NULL */
	int64_t bytes;
	uint32_t seed;
};

struct transfer {
	struct probe_run *run;
	struct gpu gpu;
	struct gpu_timer *timer;
	cudaStream_t stream, other;
	char *source, *target;     /* device */
	unsigned long long *wrong; /* device: number of wrong words */
	int64_t largest;
	uint32_t seed;  /* the last one used */
	double seconds; /* of one small point */
};

/* One point of a series. */
struct work {
	struct transfer *transfer;
	const char *series;
	enum kind kind;
	enum direction direction;
	struct buffer *buffer;
	int64_t most, bytes; /* in one direction: of the series, and of this point */
};

/* The half of the buffer that receives while the other half is sent. */
char *transfer_returning(const struct buffer *buffer);

/* A sample_function; work is a struct work. hz stays 0, as the link does not run at the SM's clock.
 */
bool transfer_sample(void *work, struct sample *sample);

uint32_t transfer_new_seed(struct transfer *transfer);

void transfer_fill_device(
        const struct transfer *transfer, char *data, int64_t bytes, uint32_t seed);

/* Fills host memory through the device and sets its seed. */
void transfer_fill_host(struct transfer *transfer, struct buffer *buffer, int64_t bytes);

/* The number of words in `bytes` that are not the seed's: of a large transfer only the ends and
 * many words between. Returned: brings a transfer to the host back and checks all of it.
 */
unsigned long long transfer_wrong_on_host(const char *data, int64_t bytes, uint32_t seed);
unsigned long long transfer_wrong_returned(
        const struct transfer *transfer, const char *host, int64_t bytes, uint32_t seed);

/* Ends the probe when a word is wrong. */
void transfer_require_right(const struct work *work, unsigned long long wrong);
