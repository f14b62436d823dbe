/* SPDX-License-Identifier: MIT */
#include "held_calls.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

bool held_calls(struct gpu_hold *hold, void *stream, void (*put)(void *context, int calls),
        void *context, struct sample *sample)
{
	gpu_hold_start(hold, stream);
	put(context, HELD_FIRST); /* while the hold starts */
	const double start = clock_now();
	put(context, HELD_CALLS);
	const double stop = clock_now();
	gpu_hold_release(hold);
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize((cudaStream_t)stream));
	*sample = (struct sample){.seconds = (stop - start) / HELD_CALLS, .agreed = true};
	return gpu_hold_ok(hold);
}

struct null_launches {
	struct gpu_hold *hold;
	cudaStream_t stream;
};

static void put_null(void *context, int calls)
{
	const struct null_launches *launches = context;

	for (int i = 0; i < calls; i++)
		gpu_null_launch(launches->stream);
}

struct null_launches *null_launches_new(void)
{
	struct null_launches *launches = xcalloc(1, sizeof *launches);

	launches->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&launches->stream, cudaStreamNonBlocking));
	put_null(launches, 1); /* loads the kernel: behind a hold that would wait for its end */
	GPU(cudaStreamSynchronize(launches->stream));
	return launches;
}

void null_launches_free(struct null_launches *launches)
{
	if (!launches)
		return;
	gpu_hold_free(launches->hold);
	GPU(cudaStreamDestroy(launches->stream));
	free(launches);
}

bool null_launches_sample(void *context, struct sample *sample)
{
	struct null_launches *launches = context;

	return held_calls(launches->hold, launches->stream, put_null, launches, sample);
}
