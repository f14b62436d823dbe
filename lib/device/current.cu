/* SPDX-License-Identifier: MIT */
#include "current.h"
#include "description.h"
#include "driver.h"

#include <cuda_runtime.h>
#include <stdlib.h>

namespace
{

/* Compiled as every kernel of the program is: its attributes tell for which architecture. */
__global__ void marker_kernel(int *out)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	__shared__ volatile int mark;
	mark = 1;
	*out = mark;
#else
	*out = 0;
#endif
}

int attribute_of(int device, enum cudaDeviceAttr attribute)
{
	int value = 0;
	return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : 0;
}

bool takes_cluster(int size)
{
	cudaLaunchAttribute attribute = {};
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim = {(unsigned)size, 1, 1};
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3((unsigned)size);
	config.blockDim = dim3(32);
	config.attrs = &attribute;
	config.numAttrs = 1;
	int clusters = 0;
	return cudaFuncSetAttribute(marker_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed,
	               1) == cudaSuccess &&
	       cudaOccupancyMaxActiveClusters(&clusters, marker_kernel, &config) == cudaSuccess &&
	       clusters > 0;
}

thread_local int most_sms;

/* A device that a test describes; without a readable file none is left. */
void keep_within(struct current *c)
{
	const char *path = getenv("FATHOM_TEST_DEVICE");
	struct description d = {};
	if (!path)
		return;
	if (!description_read(path, &d))
		d.code = 0;
	const bool same = d.code == 90; /* other devices have no such products */
	c->code = (int)min((int64_t)c->code, d.code);
	c->warpgroups = c->warpgroups && same;
	c->sm_count = (int)min((int64_t)c->sm_count, d.sms);
	c->shared_per_sm = min(c->shared_per_sm, d.shared_per_sm);
	c->shared_per_block = min(c->shared_per_block, d.shared_per_block);
	c->max_cluster = (int)min((int64_t)c->max_cluster, d.max_cluster);
}

struct current ask(uint64_t context)
{
	struct current c = {};
	cudaFuncAttributes code = {};
	if (context == 0 || cudaGetDevice(&c.device) != cudaSuccess)
		return c;
	c.context = context;
	if (cudaFuncGetAttributes(&code, marker_kernel) == cudaSuccess) {
		c.code = code.ptxVersion;
		c.binary = code.binaryVersion;
		c.warpgroups = code.sharedSizeBytes > 0;
	}
	/* under MPS the device's number is the part's */
	const int device_sms = attribute_of(c.device, cudaDevAttrMultiProcessorCount);
	c.sm_count = driver_context_sms();
	if (c.sm_count == 0 || c.sm_count > device_sms)
		c.sm_count = device_sms;
	if (most_sms > 0 && most_sms < c.sm_count)
		c.sm_count = most_sms;
	c.shared_per_sm = attribute_of(c.device, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
	c.shared_per_block = attribute_of(c.device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
	c.cooperative = attribute_of(c.device, cudaDevAttrCooperativeLaunch) != 0;
	const bool clusters = c.code >= 90 && attribute_of(c.device, cudaDevAttrClusterLaunch);
	c.max_cluster = !clusters ? 1 : takes_cluster(16) ? 16 : 8;
	cudaGetLastError(); /* clears refusals */
	keep_within(&c);
	return c;
}

/* The number of the calling thread's context; a thread without one gets the current device's. */
uint64_t context_number(void)
{
	const uint64_t number = driver_context_number();
	int device;
	if (number != 0)
		return number;
	return cudaGetDevice(&device) == cudaSuccess && cudaSetDevice(device) == cudaSuccess
	               ? driver_context_number()
	               : 0;
}

} // namespace

extern "C" const struct current *gpu_current(void)
{
	static thread_local struct current known;
	const uint64_t number = context_number();
	const uint64_t context = number ? number << 16 | (unsigned)most_sms : 0;
	if (context == 0 || context != known.context)
		known = ask(context);
	return &known;
}

extern "C" void gpu_limit_sms(int sms)
{
	most_sms = sms;
}

namespace
{

struct allowance {
	const void *kernel;
	uint64_t context;
	int64_t bytes;
	cudaError_t error;
};

/* Asked at every launch, of a few hundred kernels. */
const struct allowance *allow(const void *kernel)
{
	enum { KNOWN = 509 };
	static thread_local struct allowance known[KNOWN];
	struct allowance *a = &known[((uintptr_t)kernel >> 4) % KNOWN];
	const struct current *current = gpu_current();
	if (a->kernel == kernel && a->context == current->context && a->error == cudaSuccess)
		return a;
	cudaFuncAttributes attributes;
	*a = {kernel, current->context, 0, cudaFuncGetAttributes(&attributes, kernel)};
	if (a->error == cudaSuccess) {
		a->bytes = current->shared_per_block - (int64_t)attributes.sharedSizeBytes;
		a->error = cudaFuncSetAttribute(
		        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)a->bytes);
	}
	return a;
}

} // namespace

extern "C" int kernel_allow_shared(const void *kernel)
{
	return (int)allow(kernel)->error;
}

extern "C" bool kernel_takes_shared(const void *kernel, int64_t bytes)
{
	const struct allowance *a = allow(kernel);
	if (a->error != cudaSuccess)
		cudaGetLastError(); /* clears the refusal */
	return a->error == cudaSuccess && bytes <= a->bytes;
}
