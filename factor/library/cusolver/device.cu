/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <cuda_runtime.h>

enum { THREADS = 256 };

/* ---- streams and memory ---- */

bool device_captured(cudaStream_t stream)
{
	cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
		return status != cudaStreamCaptureStatusNone;
	cudaGetLastError();
	return true;
}

/* CUDA forbids such calls while a stream is under capture, but not in the relaxed mode. */
static cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode)
{
	cudaThreadExchangeStreamCaptureMode(&mode);
	return mode;
}

bool device_stream_new(cudaStream_t *stream)
{
	cudaStreamCaptureMode mode = exchange_mode(cudaStreamCaptureModeRelaxed);
	bool good = cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking) == cudaSuccess;

	exchange_mode(mode);
	return good;
}

void device_stream_free(cudaStream_t stream)
{
	cudaStreamDestroy(stream);
}

void *device_new(int64_t bytes)
{
	cudaStreamCaptureMode mode = exchange_mode(cudaStreamCaptureModeRelaxed);
	void *memory = NULL;

	if (cudaMalloc(&memory, (size_t)bytes) != cudaSuccess) {
		cudaGetLastError();
		memory = NULL;
	}
	exchange_mode(mode);
	return memory;
}

void device_free(void *memory)
{
	cudaStreamCaptureMode mode = exchange_mode(cudaStreamCaptureModeRelaxed);

	cudaFree(memory);
	exchange_mode(mode);
}

int64_t device_free_bytes(void)
{
	cudaStreamCaptureMode mode = exchange_mode(cudaStreamCaptureModeRelaxed);
	size_t free_bytes = 0, all = 0;

	if (cudaMemGetInfo(&free_bytes, &all) != cudaSuccess)
		free_bytes = 0;
	exchange_mode(mode);
	return (int64_t)free_bytes;
}

bool device_zero(int *info, cudaStream_t stream)
{
	return cudaMemsetAsync(info, 0, sizeof *info, stream) == cudaSuccess;
}

/* ---- pivots ---- */

template <typename From, typename To>
static __global__ void convert(const From *from, int64_t count, To *to)
{
	const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < count)
		to[i] = (To)from[i];
}

template <typename From, typename To>
static bool launch_convert(const From *from, int64_t count, To *to, cudaStream_t stream)
{
	const unsigned blocks = (unsigned)((count + THREADS - 1) / THREADS);

	cudaGetLastError(); /* an earlier error is not this launch's */
	convert<<<blocks, THREADS, 0, stream>>>(from, count, to);
	return cudaGetLastError() == cudaSuccess;
}

bool device_widen(const int *from, int64_t count, int64_t *to, cudaStream_t stream)
{
	return launch_convert(from, count, to, stream);
}

bool device_narrow(const int64_t *from, int64_t count, int *to, cudaStream_t stream)
{
	return launch_convert(from, count, to, stream);
}
