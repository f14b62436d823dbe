/* SPDX-License-Identifier: MIT */
/* Replaces gpu.c in a build without the CUDA Toolkit: there is no device. */
#include "gpu.h"

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
