/* SPDX-License-Identifier: MIT */
#include "vendor.h"

#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <limits.h>
#include <stdlib.h>

struct vendor {
	cusolverDnHandle_t handle;
	cudaStream_t stream;
	void *work;
	int64_t work_bytes;
};

static bool solver_ok(cusolverStatus_t status, const char *call, struct fault *fault)
{
	if (status == CUSOLVER_STATUS_SUCCESS)
		return true;
	return fault_set(fault, "cuSOLVER: %s failed with status %d", call, (int)status);
}

static bool cuda_ok(cudaError_t error, const char *call, struct fault *fault)
{
	if (error == cudaSuccess)
		return true;
	return fault_set(fault, "cuSOLVER reference: %s: %s (%s)", call, cudaGetErrorString(error),
	        cudaGetErrorName(error));
}

#define SOLVER(call) solver_ok(call, #call, fault)
#define CUDA(call) cuda_ok(call, #call, fault)

struct vendor *vendor_new(struct fault *fault)
{
	struct vendor *vendor = xcalloc(1, sizeof *vendor);

	if (SOLVER(cusolverDnCreate(&vendor->handle)) &&
	        CUDA(cudaStreamCreateWithFlags(&vendor->stream, cudaStreamNonBlocking)) &&
	        SOLVER(cusolverDnSetStream(vendor->handle, vendor->stream)))
		return vendor;
	vendor_free(vendor);
	return NULL;
}

void vendor_free(struct vendor *vendor)
{
	if (!vendor)
		return;
	if (vendor->handle)
		cusolverDnDestroy(vendor->handle);
	if (vendor->stream)
		cudaStreamDestroy(vendor->stream);
	cudaFree(vendor->work);
	free(vendor);
}

bool vendor_prepare(struct vendor *vendor, struct matrix a, struct fault *fault)
{
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, count = 0;
	void *data = matrix_address(a);

	if (a.ld > INT_MAX || a.m > INT_MAX || a.n > INT_MAX)
		return fault_set(fault, "cuSOLVER's getrf takes 32-bit sizes only");
	bool known = a.precision == SINGLE ? SOLVER(cusolverDnSgetrf_bufferSize(
	                                             vendor->handle, m, n, data, ld, &count))
	                                   : SOLVER(cusolverDnDgetrf_bufferSize(
	                                             vendor->handle, m, n, data, ld, &count));
	if (!known)
		return false;
	int64_t bytes = count * precision_bytes(a.precision);
	if (bytes <= vendor->work_bytes)
		return true;
	cudaFree(vendor->work);
	vendor->work = NULL;
	vendor->work_bytes = 0;
	if (!CUDA(cudaMalloc(&vendor->work, (size_t)bytes)))
		return false;
	vendor->work_bytes = bytes;
	return true;
}

bool vendor_getrf(struct vendor *vendor, struct matrix a, struct pivots pivots, struct fault *fault)
{
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld;
	void *data = matrix_address(a);
	int *info = pivots.data + pivots.n;

	bool queued = a.precision == SINGLE ? SOLVER(cusolverDnSgetrf(vendor->handle, m, n, data,
	                                              ld, vendor->work, pivots.data, info))
	                                    : SOLVER(cusolverDnDgetrf(vendor->handle, m, n, data,
	                                              ld, vendor->work, pivots.data, info));
	return queued && CUDA(cudaStreamSynchronize(vendor->stream));
}
