/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "gpu.h"
#include "lib/host/clock.h"
#include "gpu_select.h"
#include "lib/base/msg.h"
#include "nvml.h"

#include <cuda_runtime_api.h>
#include <math.h>
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
	struct gpu_identity *identity = xcalloc((size_t)count, sizeof *identity);
	const bool is_number = text[strspn(text, "0123456789")] == '\0'; /* the usual case */
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

bool gpu_open(struct gpu *gpu, const char *device, struct fault *fault)
{
	memset(gpu, 0, sizeof *gpu);
	const bool is_slice = gpu_show_slice(device);
	int count = 0;
	cudaError_t error = cudaGetDeviceCount(&count);
	if (error != cudaSuccess || count == 0)
		return fault_set(fault, "no GPU: %s",
		        error == cudaSuccess ? "no device found" : cudaGetErrorString(error));
	const int d = is_slice && count == 1 ? 0 : find_device(device, count, fault);
	if (d < 0)
		return false;
	struct cudaDeviceProp prop;
	if ((error = cudaSetDevice(d)) != cudaSuccess ||
	        (error = cudaGetDeviceProperties(&prop, d)) != cudaSuccess ||
	        (error = cudaFree(NULL)) != cudaSuccess)
		return fault_set(fault, "GPU %d cannot be used: %s", d, cudaGetErrorString(error));

	gpu->device = d;
	gpu->visible = count;
	snprintf(gpu->name, sizeof gpu->name, "%s", prop.name);
	format_uuid(gpu->uuid, sizeof gpu->uuid, &prop.uuid);
	cudaDeviceGetPCIBusId(gpu->pci, sizeof gpu->pci, d);
	gpu->major = prop.major;
	gpu->minor = prop.minor;
	gpu->sm_count = prop.multiProcessorCount;
	gpu->max_threads_per_sm = prop.maxThreadsPerMultiProcessor;
	gpu->max_threads_per_block = prop.maxThreadsPerBlock;
	gpu->shared_per_block = (int64_t)prop.sharedMemPerBlockOptin;
	gpu->shared_per_sm = (int64_t)prop.sharedMemPerMultiprocessor;
	gpu->l2_bytes = prop.l2CacheSize;
	gpu->memory_bytes = (int64_t)prop.totalGlobalMem;
	gpu->copy_engines = prop.asyncEngineCount;
	gpu->max_hz = attribute(cudaDevAttrClockRate, d) * 1e3;
	gpu->cooperative = prop.cooperativeLaunch != 0;
	gpu->clusters = attribute(cudaDevAttrClusterLaunch, d) != 0;
	gpu->max_cluster = gpu->clusters ? 16 : 1;
	gpu->ecc = prop.ECCEnabled != 0;
	gpu->integrated = prop.integrated != 0;
	cudaDriverGetVersion(&gpu->driver);
	cudaRuntimeGetVersion(&gpu->runtime);
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
