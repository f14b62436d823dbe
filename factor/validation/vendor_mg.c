/* SPDX-License-Identifier: MIT */
#include "vendor_mg.h"

#include "lib/base/msg.h"

#if defined FATHOM_CUDA && __has_include(<cusolverMg.h>)

#define DISABLE_CUSOLVERMG_DEPRECATED /* by CUDA 13, which still has it */
#include <cuda_runtime_api.h>
#include <cusolverMg.h>
#include <dlfcn.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
static const char file_name[] = "libcusolverMg.so." TEXT(CUSOLVER_VER_MAJOR);

/* The functions used here, without their common prefix. */
/* clang-format off */
#define FUNCTIONS(F) \
	F(Create) \
	F(Destroy) \
	F(DeviceSelect) \
	F(CreateDeviceGrid) \
	F(DestroyGrid) \
	F(CreateMatrixDesc) \
	F(DestroyMatrixDesc) \
	F(Getrf_bufferSize) \
	F(Getrf) \
	F(Potrf_bufferSize) \
	F(Potrf)
/* clang-format on */

struct calls {
#define POINTER(name) __typeof__(&cusolverMg##name) name;
	FUNCTIONS(POINTER)
};

struct vendor_mg {
	struct calls calls;
	cusolverMgHandle_t handle;
	cudaLibMgGrid_t grid;
	cudaLibMgMatrixDesc_t desc;
	enum operation operation;
	cudaDataType type;
	int count, devices[MOST], n;
	void *a[MOST], *work[MOST];
	int *pivots[MOST];
	int64_t work_elements;
};

static bool solver_ok(cusolverStatus_t status, const char *call, struct fault *fault)
{
	if (status == CUSOLVER_STATUS_SUCCESS)
		return true;
	return fault_set(fault, "cuSOLVERMg: %s failed with status %d", call, (int)status);
}

static bool cuda_ok(cudaError_t error, const char *call, struct fault *fault)
{
	if (error == cudaSuccess)
		return true;
	fault_set(fault, "cuSOLVERMg reference: %s: %s (%s)", call, cudaGetErrorString(error),
	        cudaGetErrorName(error));
	fault->refused = error == cudaErrorMemoryAllocation;
	return false;
}

#define SOLVER(call) solver_ok(v->calls.call, #call, fault)
#define CUDA(call) cuda_ok(call, #call, fault)

/* dlsym's object pointers become function pointers by their bytes. The library stays loaded. */
static bool load(struct calls *calls, struct fault *fault)
{
	void *library = dlopen(file_name, RTLD_NOW | RTLD_LOCAL), *found;

	if (!library)
		return fault_set(fault, "cuSOLVERMg is not installed (%s)", file_name);
#define FIND(name)                                                                                 \
	found = dlsym(library, "cusolverMg" #name);                                                \
	memcpy(&calls->name, &found, sizeof found);                                                \
	if (!found)                                                                                \
		return fault_set(fault, "%s lacks cusolverMg" #name, file_name);
	FUNCTIONS(FIND)
	return true;
}

/* Every GPU reads and writes the memory of every other one. */
static bool open_peers(const struct vendor_mg *v, struct fault *fault)
{
	for (int i = 0; i < v->count; i++)
		for (int j = 0; j < v->count; j++) {
			if (i == j)
				continue;
			if (!CUDA(cudaSetDevice(v->devices[i])))
				return false;
			const cudaError_t error = cudaDeviceEnablePeerAccess(v->devices[j], 0);
			if (error == cudaErrorPeerAccessAlreadyEnabled)
				(void)cudaGetLastError();
			else if (!CUDA(error))
				return false;
		}
	return true;
}

static bool reserve(struct vendor_mg *v, struct fault *fault)
{
	const size_t word = v->type == CUDA_R_32F ? sizeof(float) : sizeof(double);
	bool ok = true;

	for (int i = 0; ok && i < v->count; i++)
		ok = CUDA(cudaSetDevice(v->devices[i])) &&
		     CUDA(cudaMalloc(
		             (void **)&v->pivots[i], (size_t)(v->n / v->count) * sizeof(int)));
	ok = ok && (v->operation == POTRF
	                           ? SOLVER(Potrf_bufferSize(v->handle, CUBLAS_FILL_MODE_LOWER,
	                                     v->n, v->a, 1, 1, v->desc, v->type, &v->work_elements))
	                           : SOLVER(Getrf_bufferSize(v->handle, v->n, v->n, v->a, 1, 1,
	                                     v->desc, v->pivots, v->type, &v->work_elements)));
	for (int i = 0; ok && i < v->count; i++)
		ok = CUDA(cudaSetDevice(v->devices[i])) &&
		     CUDA(cudaMalloc(&v->work[i], (size_t)v->work_elements * word));
	return ok;
}

struct vendor_mg *vendor_mg_new(enum operation operation, enum precision precision, int count,
        const int *devices, int64_t n, int64_t nb, void *const *a, struct fault *fault)
{
	struct vendor_mg *v = xcalloc(1, sizeof *v);

	*v = (struct vendor_mg){.operation = operation,
	        .type = precision == SINGLE ? CUDA_R_32F : CUDA_R_64F,
	        .count = (int)min_int64(count, MOST),
	        .n = (int)n};
	for (int i = 0; i < v->count; i++) {
		v->devices[i] = devices[i];
		v->a[i] = a[i];
	}
	const bool divides = count <= MOST && n <= INT_MAX && n % (count * nb) == 0;
	if (!divides)
		fault_refuse(fault, "cuSOLVERMg: the blocks are not as many on each GPU");
	if (divides && load(&v->calls, fault) && open_peers(v, fault) &&
	        SOLVER(Create(&v->handle)) && SOLVER(DeviceSelect(v->handle, count, v->devices)) &&
	        SOLVER(CreateDeviceGrid(
	                &v->grid, 1, count, v->devices, CUDALIBMG_GRID_MAPPING_COL_MAJOR)) &&
	        SOLVER(CreateMatrixDesc(&v->desc, n, n, n, nb, v->type, v->grid)) &&
	        reserve(v, fault))
		return v;
	vendor_mg_free(v);
	return NULL;
}

void vendor_mg_free(struct vendor_mg *v)
{
	if (!v)
		return;
	for (int i = 0; i < v->count; i++) {
		cudaSetDevice(v->devices[i]);
		cudaFree(v->pivots[i]);
		cudaFree(v->work[i]);
	}
	if (v->desc)
		v->calls.DestroyMatrixDesc(v->desc);
	if (v->grid)
		v->calls.DestroyGrid(v->grid);
	if (v->handle)
		v->calls.Destroy(v->handle);
	cudaSetDevice(v->devices[0]);
	free(v);
}

bool vendor_mg_run(struct vendor_mg *v, struct fault *fault)
{
	int info = 0;
	bool ok = v->operation == POTRF
	                  ? SOLVER(Potrf(v->handle, CUBLAS_FILL_MODE_LOWER, v->n, v->a, 1, 1,
	                            v->desc, v->type, v->work, v->work_elements, &info))
	                  : SOLVER(Getrf(v->handle, v->n, v->n, v->a, 1, 1, v->desc, v->pivots,
	                            v->type, v->work, v->work_elements, &info));

	for (int i = 0; ok && i < v->count; i++)
		ok = CUDA(cudaSetDevice(v->devices[i])) && CUDA(cudaDeviceSynchronize());
	ok = CUDA(cudaSetDevice(v->devices[0])) && ok;
	return ok && (info == 0 || fault_set(fault, "cuSOLVERMg: info is %d", info));
}

#else

struct vendor_mg *vendor_mg_new(enum operation operation, enum precision precision, int count,
        const int *devices, int64_t n, int64_t nb, void *const *a, struct fault *fault)
{
	(void)operation, (void)precision, (void)count, (void)devices, (void)n, (void)nb, (void)a;
	fault_refuse(fault, "built without cuSOLVERMg");
	return NULL;
}

void vendor_mg_free(struct vendor_mg *v)
{
	(void)v;
}

bool vendor_mg_run(struct vendor_mg *v, struct fault *fault)
{
	(void)v;
	return fault_refuse(fault, "built without cuSOLVERMg");
}

#endif
