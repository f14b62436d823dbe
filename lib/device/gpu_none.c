/* SPDX-License-Identifier: MIT */
/* Replaces gpu.c in a build without the CUDA Toolkit: there is no device. */
#include "gpu.h"

#include "held_calls.h"
#include "lib/base/msg.h"

bool gpu_open(struct gpu *gpu, const char *device, struct fault *fault)
{
	(void)gpu;
	(void)device;
	return fault_set(fault, "no GPU here: fathom was built without the CUDA Toolkit (install "
	                        "it, or set CUDA_HOME, and run make again)");
}

int gpu_other_users(const struct gpu *gpu)
{
	(void)gpu;
	return -1;
}

struct null_launches *null_launches_new(void)
{
	return NULL;
}

void null_launches_free(struct null_launches *launches)
{
	(void)launches;
}

bool null_launches_sample(void *context, struct sample *sample)
{
	(void)context;
	(void)sample;
	return false;
}
