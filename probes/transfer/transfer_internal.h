/* SPDX-License-Identifier: MIT */
/* The parts of the transfer probe. */
#ifndef FATHOM_TRANSFER_INTERNAL_H
#define FATHOM_TRANSFER_INTERNAL_H

#include "lib/base/base.h"
#include "transfer.h"

#include "lib/device/gpu.h"
#include "lib/host/sample.h"

#include <cuda_runtime_api.h>

enum { MIB = 1 << 20 };
/* WRITTEN: pinned, and in the caches of the calling core, which has just written it. */
enum kind { PINNED, WRITTEN, PAGEABLE, COMBINED, MAPPED };
enum direction { TO_DEVICE, TO_HOST, BOTH };

/* Host memory; it starts with data of this seed, as far as they were last brought there. */
struct buffer {
	char *host;
	void *mapped; /* the same for a kernel, or NULL */
	int64_t bytes;
	uint32_t seed;
};

struct transfer {
	struct gpu gpu;
	struct gpu_timer *timer;
	cudaStream_t stream, other;
	char *source, *target;     /* device */
	unsigned long long *wrong; /* device: words found wrong */
	int64_t largest;
	uint32_t seed; /* the last one used */
	bool quick;
	double seconds; /* for one small point */
};

/* One series. */
struct route {
	const char *series;
	enum kind kind;
	enum direction direction;
	struct buffer *buffer;
	int64_t most; /* bytes, in one direction */
};

/* One point of it. */
struct work {
	const struct transfer *transfer;
	const struct route *route;
	int64_t bytes;
};

/* The half of the buffer that takes what comes back while the other half goes out. */
char *transfer_returning(const struct buffer *buffer);

/* One transfer of a struct work. The link's clock is not the SM's: hz stays 0. */
bool transfer_sample(void *work, struct sample *sample);

uint32_t transfer_new_seed(struct transfer *transfer);

void transfer_fill_device(
        const struct transfer *transfer, char *data, int64_t bytes, uint32_t seed);

/* Fills host memory through the device; the seed says what it holds from then on. */
void transfer_fill_host(struct transfer *transfer, struct buffer *buffer, int64_t bytes);

/* How many words of `bytes` are not those of the seed. On the host: of a large transfer only the
 * ends and many between are looked at. Returned: brings a transfer to the host back, and looks at
 * all of it. */
unsigned long long transfer_wrong_on_device(
        const struct transfer *transfer, const char *data, int64_t bytes, uint32_t seed);
unsigned long long transfer_wrong_on_host(const char *data, int64_t bytes, uint32_t seed);
unsigned long long transfer_wrong_returned(
        const struct transfer *transfer, const char *host, int64_t bytes, uint32_t seed);

/* Ends the probe when there are any. */
void transfer_require_right(const struct work *work, unsigned long long wrong);

#endif
