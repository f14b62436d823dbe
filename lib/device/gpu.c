/* SPDX-License-Identifier: MIT */
#include "current.h"
#include "driver.h"
#include "gpu.h"
#include "lib/host/clock.h"
#include "gpu_select.h"
#include "gpu_usable.h"
#include "gpu_warnings.h"
#include "lib/base/msg.h"
#include "nvml.h"
#include "partition.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int attribute(enum cudaDeviceAttr attr, int device)
{
	int value = 0;
	if (cudaDeviceGetAttribute(&value, attr, device) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	return value;
}

static void format_uuid(char *text, size_t size, const cudaUUID_t *uuid)
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;
	snprintf(text, size,
	        "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
	        b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
	        b[14], b[15]);
}

/* The number of the device meant among the visible ones; -1 with a fault. */
static int find_device(const char *text, int count, struct fault *fault)
{
	struct gpu_identity *identity = calloc((size_t)count, sizeof *identity);
	const bool is_number = text[strspn(text, "0123456789")] == '\0'; /* the usual case */
	if (!identity) {
		fault_set(fault, "out of host memory");
		return -1;
	}
	for (int d = 0; d < count && !is_number; d++) {
		struct cudaDeviceProp prop;
		if (cudaGetDeviceProperties(&prop, d) != cudaSuccess ||
		        cudaDeviceGetPCIBusId(identity[d].pci, sizeof identity[d].pci, d) !=
		                cudaSuccess)
			continue; /* only its number can name it */
		format_uuid(identity[d].uuid, sizeof identity[d].uuid, &prop.uuid);
	}
	cudaGetLastError();
	const int found = gpu_select(text, identity, count, fault);
	free(identity);
	return found;
}

/* The facts of a step that returned that error. */
static void note_step(struct gpu_opening *opening, cudaError_t error)
{
	opening->error = (int)error;
	opening->error_text = cudaGetErrorString(error);
}

/* Makes the chosen device current. A context on it that is current already stays. */
static bool enter(struct gpu_opening *opening, struct fault *fault)
{
	const int device = opening->device;
	int now = -1, sms;

	if (!partition_asked(&sms, fault))
		return false;
	if (driver_context() && cudaGetDevice(&now) == cudaSuccess && now == device)
		return true;
	note_step(opening, cudaSetDevice(device));
	if (!gpu_usable(opening, fault))
		return false;
	return sms == 0 || partition_enter(device, sms, fault);
}

static int64_t free_memory(void)
{
	size_t unused, total;
	if (cudaMemGetInfo(&unused, &total) == cudaSuccess)
		return (int64_t)unused;
	cudaGetLastError();
	return -1;
}

/* Whether some visible device is not like device d. */
static bool any_unlike(int d, int count)
{
	static const enum cudaDeviceAttr compared[] = {cudaDevAttrComputeCapabilityMajor,
	        cudaDevAttrComputeCapabilityMinor, cudaDevAttrMultiProcessorCount};

	for (int other = 0; other < count; other++)
		for (size_t i = 0; i < ARRAY_LEN(compared); i++)
			if (attribute(compared[i], other) != attribute(compared[i], d))
				return true;
	return false;
}

#define SAME_ERROR(ours, name) _Static_assert((int)ours == (int)name, #name)
SAME_ERROR(GPU_ERROR_MEMORY, cudaErrorMemoryAllocation);
SAME_ERROR(GPU_ERROR_START, cudaErrorInitializationError);
SAME_ERROR(GPU_ERROR_STUB, cudaErrorStubLibrary);
SAME_ERROR(GPU_ERROR_OLD_DRIVER, cudaErrorInsufficientDriver);
SAME_ERROR(GPU_ERROR_UNAVAILABLE, cudaErrorDevicesUnavailable);
SAME_ERROR(GPU_ERROR_NO_DEVICE, cudaErrorNoDevice);
SAME_ERROR(GPU_ERROR_NO_LICENCE, cudaErrorDeviceNotLicensed);
SAME_ERROR(GPU_ERROR_NO_CODE, cudaErrorNoKernelImageForDevice);
SAME_ERROR(GPU_ERROR_ECC, cudaErrorECCUncorrectable);
SAME_ERROR(GPU_ERROR_FABRIC, cudaErrorSystemNotReady);
SAME_ERROR(GPU_ERROR_MISMATCH, cudaErrorSystemDriverMismatch);
SAME_ERROR(GPU_ERROR_COMPATIBILITY, cudaErrorCompatNotSupportedOnDevice);
SAME_ERROR(GPU_ERROR_MPS_CONNECTION, cudaErrorMpsConnectionFailed);
SAME_ERROR(GPU_ERROR_MPS_NOT_READY, cudaErrorMpsServerNotReady);
SAME_ERROR(GPU_ERROR_MPS_CLIENTS, cudaErrorMpsMaxClientsReached);
SAME_ERROR(GPU_ERROR_MPS_CONNECTIONS, cudaErrorMpsMaxConnectionsReached);

/* Chooses the device among those that CUDA shows; -1 with a fault. */
static int choose_device(struct gpu_opening *opening, const char *device, struct fault *fault)
{
	const bool is_slice = gpu_show_slice(device);

	cudaDriverGetVersion(&opening->driver);
	cudaRuntimeGetVersion(&opening->runtime);
	opening->slice = is_slice ? device : NULL;
	opening->visible = getenv("CUDA_VISIBLE_DEVICES");
	opening->device = -1;
	note_step(opening, cudaGetDeviceCount(&opening->count));
	if (!gpu_usable(opening, fault))
		return -1;
	return is_slice && opening->count == 1 ? 0 : find_device(device, opening->count, fault);
}

bool gpu_open(struct gpu *gpu, const char *device, struct fault *fault)
{
	struct gpu_opening opening = {.code = -1};
	struct cudaDeviceProp prop;

	memset(gpu, 0, sizeof *gpu);
	const int d = choose_device(&opening, device, fault);
	if (d < 0)
		return false;
	const cudaError_t error = cudaGetDeviceProperties(&prop, d);
	if (error != cudaSuccess)
		return fault_set(fault, "GPU %d cannot be used: %s", d, cudaGetErrorString(error));
	opening.device = d;
	opening.name = prop.name;
	opening.major = prop.major;
	opening.minor = prop.minor;
	if (!gpu_usable(&opening, fault) || !enter(&opening, fault))
		return false;
	note_step(&opening, cudaFree(NULL));
	if (!gpu_usable(&opening, fault))
		return false;
	const struct current *current = gpu_current();
	opening.code = current->code;
	if (!gpu_usable(&opening, fault))
		return false;

	gpu->device = d;
	gpu->visible = opening.count;
	gpu->unlike = any_unlike(d, opening.count);
	format_uuid(gpu->uuid, sizeof gpu->uuid, &prop.uuid);
	cudaDeviceGetPCIBusId(gpu->pci, sizeof gpu->pci, d);
	gpu->major = prop.major;
	gpu->minor = prop.minor;
	gpu->sm_count = current->sm_count;
	gpu->device_sms = prop.multiProcessorCount;
	gpu->sm_numbers =
	        gpu_sm_numbers(gpu->device_sms, getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
	if (gpu->sm_count == gpu->device_sms)
		snprintf(gpu->name, sizeof gpu->name, "%.200s", prop.name);
	else
		snprintf(gpu->name, sizeof gpu->name, "%.200s (%d of %d SMs)", prop.name,
		        gpu->sm_count, gpu->device_sms);
	gpu->code = current->code;
	gpu->warpgroups = current->warpgroups;
	gpu->max_threads_per_sm = prop.maxThreadsPerMultiProcessor;
	gpu->max_threads_per_block = prop.maxThreadsPerBlock;
	gpu->max_blocks_per_sm = prop.maxBlocksPerMultiProcessor;
	gpu->shared_per_block = current->shared_per_block;
	gpu->shared_per_sm = current->shared_per_sm;
	gpu->l2_bytes = prop.l2CacheSize;
	gpu->memory_bytes = (int64_t)prop.totalGlobalMem;
	gpu->copy_engines = prop.asyncEngineCount;
	gpu->max_hz = attribute(cudaDevAttrClockRate, d) * 1e3;
	gpu->cooperative = prop.cooperativeLaunch != 0;
	gpu->max_cluster = current->max_cluster;
	gpu->clusters = gpu->max_cluster > 1;
	gpu->ecc = prop.ECCEnabled != 0;
	gpu->integrated = prop.integrated != 0;
	gpu->kernel_timeout = attribute(cudaDevAttrKernelExecTimeout, d) != 0;
	gpu->free_bytes = free_memory();
	gpu->driver = opening.driver;
	gpu->runtime = opening.runtime;
	return true;
}

int gpu_other_users(const struct gpu *gpu)
{
	return nvml_other_processes(gpu->pci);
}

double gpu_rest(const struct gpu *gpu, double hz)
{
	static const double enough = 0.995, most_seconds = 1;
	const struct timespec pause = {.tv_nsec = 20000000};
	const double begun = clock_now();
	double reached;

	while ((reached = gpu_warm(gpu, 0)) < enough * hz && clock_now() < begun + most_seconds)
		nanosleep(&pause, NULL);
	return reached < enough * hz ? reached : hz;
}

void gpu_profile(void (*put)(void *), void *context, void *stream)
{
	put(context);
	GPU(cudaStreamSynchronize(stream));
	GPU(cudaProfilerStart());
	put(context);
	GPU(cudaStreamSynchronize(stream));
	GPU(cudaProfilerStop());
}

void gpu_check(int error, const char *expression, const char *file, int line)
{
	if (error == (int)cudaErrorMemoryAllocation)
		msg_die(EXIT_NOT_POSSIBLE,
		        "too little memory is free, on the GPU or pinned on the host (%s, %s:%d): "
		        "stop what uses it",
		        expression, file, line);
	if (error != (int)cudaSuccess)
		msg_die(EXIT_MEASURE_FAILED, "CUDA %s: %s, in %s (%s:%d)",
		        cudaGetErrorName((cudaError_t)error),
		        cudaGetErrorString((cudaError_t)error), expression, file, line);
}

void gpu_span_sample(const struct gpu_span *span, double operations, double host_seconds,
        double slack, struct sample *sample)
{
	double seconds = (double)(span->ns1 - span->ns0) * 1e-9;
	double resolution = gpu_timer_resolution();
	sample->span = seconds;
	sample->seconds = seconds / operations;
	sample->hz = seconds > 0 ? (double)(span->cycles1 - span->cycles0) / seconds : 0;
	sample->agreed = span->ns1 > span->ns0 && span->cycles1 > span->cycles0;
	if (host_seconds > 0) {
		double tolerance = 0.002 * host_seconds + resolution;
		sample->agreed = sample->agreed && seconds <= host_seconds + tolerance &&
		                 host_seconds <= seconds + slack + tolerance;
	}
}
