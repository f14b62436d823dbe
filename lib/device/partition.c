/* SPDX-License-Identifier: MIT */
#include "partition.h"

#include "driver.h"
#include "lib/base/cli.h"
#include "lib/base/msg.h"

#include <cudaTypedefs.h>
#include <stdlib.h>

bool partition_asked(int *sms, struct fault *fault)
{
	const char *text = getenv("FATHOM_SMS");
	int64_t value = 0;

	*sms = 0;
	if (!text || !text[0])
		return true;
	if (!cli_parse_int(text, &value) || value < 1 || value > 100000)
		return fault_set(fault, "FATHOM_SMS=%s is no number of multiprocessors", text);
	*sms = (int)value;
	return true;
}

/* The driver's functions for green contexts; false where it is older than CUDA 12.4. */
struct calls {
	PFN_cuDeviceGet_v2000 device;
	PFN_cuDeviceGetDevResource_v12040 all;
	PFN_cuDevSmResourceSplitByCount_v12040 split;
	PFN_cuDevResourceGenerateDesc_v12040 describe;
	PFN_cuGreenCtxCreate_v12040 create;
	PFN_cuCtxFromGreenCtx_v12040 context;
};

static bool find_calls(struct calls *c)
{
	c->device = (PFN_cuDeviceGet_v2000)driver_function("cuDeviceGet", 2000);
	c->all =
	        (PFN_cuDeviceGetDevResource_v12040)driver_function("cuDeviceGetDevResource", 12040);
	c->split = (PFN_cuDevSmResourceSplitByCount_v12040)driver_function(
	        "cuDevSmResourceSplitByCount", 12040);
	c->describe = (PFN_cuDevResourceGenerateDesc_v12040)driver_function(
	        "cuDevResourceGenerateDesc", 12040);
	c->create = (PFN_cuGreenCtxCreate_v12040)driver_function("cuGreenCtxCreate", 12040);
	c->context = (PFN_cuCtxFromGreenCtx_v12040)driver_function("cuCtxFromGreenCtx", 12040);
	return c->device && c->all && c->split && c->describe && c->create && c->context;
}

bool partition_enter(int device, int sms, struct fault *fault)
{
	struct calls c;
	CUdevice handle;
	CUdevResource all, part, rest;
	CUdevResourceDesc description;
	CUgreenCtx green;
	CUcontext context;
	unsigned groups = 1;

	if (!find_calls(&c))
		return fault_set(fault, "a part of the GPU needs a driver for CUDA 12.4 or later: "
		                        "leave out --sms and FATHOM_SMS");
	if (c.device(&handle, device) != CUDA_SUCCESS ||
	        c.all(handle, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS)
		return fault_set(
		        fault, "the driver does not say what multiprocessors GPU %d has", device);
	if (sms > (int)all.sm.smCount)
		return fault_set(fault, "GPU %d has %u multiprocessors, not %d", device,
		        all.sm.smCount, sms);
	if (sms == (int)all.sm.smCount)
		return true;
	if (c.split(&part, &groups, &all, &rest, 0, (unsigned)sms) != CUDA_SUCCESS || groups != 1)
		return fault_set(
		        fault, "no part of %d multiprocessors can be made of GPU %d", sms, device);
	if ((int)part.sm.smCount != sms)
		return fault_set(fault,
		        "GPU %d has no part of %d multiprocessors: the next larger one has %u",
		        device, sms, part.sm.smCount);
	if (c.describe(&description, &part, 1) != CUDA_SUCCESS ||
	        c.create(&green, description, handle, CU_GREEN_CTX_DEFAULT_STREAM) !=
	                CUDA_SUCCESS ||
	        c.context(&context, green) != CUDA_SUCCESS || !driver_set_context(context))
		return fault_set(
		        fault, "GPU %d gives no context of %d multiprocessors", device, sms);
	return true;
}
