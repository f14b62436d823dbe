/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#if CUDART_VERSION >= 12050
void *driver_function(const char *name, unsigned version)
{
	void *entry = NULL;
	enum cudaDriverEntryPointQueryResult found;
	const cudaError_t error =
	        cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found);
	if (error != cudaSuccess)
		cudaGetLastError();
	return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? entry : NULL;
}
#else
/* CUDA 12.4 has no such call. Its cudaGetDriverEntryPoint gives the toolkit's version of a
 * function, whose arguments can differ from the asked version's: it is asked for the driver's own
 * search. */
void *driver_function(const char *name, unsigned version)
{
	void *search = NULL, *entry = NULL;
	enum cudaDriverEntryPointQueryResult found;
	CUdriverProcAddressQueryResult answer;
	const cudaError_t error =
	        cudaGetDriverEntryPoint("cuGetProcAddress", &search, cudaEnableDefault, &found);
	if (error != cudaSuccess)
		cudaGetLastError();
	return error == cudaSuccess && found == cudaDriverEntryPointSuccess &&
	                       ((PFN_cuGetProcAddress_v12000)search)(name, &entry, (int)version,
	                               CU_GET_PROC_ADDRESS_DEFAULT, &answer) == CUDA_SUCCESS &&
	                       answer == CU_GET_PROC_ADDRESS_SUCCESS
	               ? entry
	               : NULL;
}
#endif

/* Calls and launches ask again and again: a function is looked up once. */
#define LOOK_UP(type, function, name, version)                                                     \
	static _Atomic(type) known;                                                                \
	type function = known;                                                                     \
	if (!function)                                                                             \
	known = function = (type)driver_function(name, version)

CUcontext driver_context(void)
{
	LOOK_UP(PFN_cuCtxGetCurrent_v4000, get, "cuCtxGetCurrent", 4000);
	CUcontext context = NULL;
	return get && get(&context) == CUDA_SUCCESS ? context : NULL;
}

bool driver_set_context(CUcontext context)
{
	LOOK_UP(PFN_cuCtxSetCurrent_v4000, set, "cuCtxSetCurrent", 4000);
	return set && set(context) == CUDA_SUCCESS;
}

uint64_t driver_context_number(void)
{
	LOOK_UP(PFN_cuCtxGetId_v12000, get, "cuCtxGetId", 12000);
	unsigned long long number = 0;
	return get && get(NULL, &number) == CUDA_SUCCESS ? number + 1 : 0;
}

int driver_context_sms(void)
{
	LOOK_UP(PFN_cuCtxGetDevResource_v12040, get, "cuCtxGetDevResource", 12040);
	CUdevResource resource;
	return get && get(driver_context(), &resource, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS
	               ? (int)resource.sm.smCount
	               : 0;
}

int driver_stream_sms(CUstream stream)
{
	LOOK_UP(PFN_cuStreamGetGreenCtx_v12040, green_of, "cuStreamGetGreenCtx", 12040);
	const PFN_cuGreenCtxGetDevResource_v12040 get =
	        (PFN_cuGreenCtxGetDevResource_v12040)driver_function(
	                "cuGreenCtxGetDevResource", 12040);
	CUgreenCtx green = NULL;
	CUdevResource resource;
	return stream && green_of && get && green_of(stream, &green) == CUDA_SUCCESS && green &&
	                       get(green, &resource, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS
	               ? (int)resource.sm.smCount
	               : 0;
}
