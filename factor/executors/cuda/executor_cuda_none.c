/* SPDX-License-Identifier: MIT */
/* Replaces executor_cuda.c in builds without the CUDA Toolkit. */
#include "factor/executors/executor.h"
#include "lib/base/msg.h"

struct executor *executor_cuda_new(const char *device, struct fault *fault)
{
	(void)device;
	fault_set(fault, "no GPU: fathom was built without the CUDA Toolkit");
	return NULL;
}
