/* SPDX-License-Identifier: MIT */
#include "vendor.h"
#include "vendor_emulation.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <limits.h>
#include <stdlib.h>

/* Memory that grows to the largest size needed so far. */
struct work {
	void *data;
	size_t bytes;
};

struct vendor {
	cusolverDnHandle_t handle;
	cublasHandle_t blas;
	cusolverDnParams_t params[VENDOR_ALGORITHMS];
	cudaStream_t stream;
	struct work device, host, pivots; /* pivots: the generic getrf's are of 64 bits */
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
	fault_set(fault, "cuSOLVER reference: %s: %s (%s)", call, cudaGetErrorString(error),
	        cudaGetErrorName(error));
	fault->refused = error == cudaErrorMemoryAllocation;
	return false;
}

static bool blas_ok(cublasStatus_t status, const char *call, struct fault *fault)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return true;
	return fault_set(fault, "cuBLAS: %s failed with status %d", call, (int)status);
}

#define BLAS(call) blas_ok(call, #call, fault)
#define SOLVER(call) solver_ok(call, #call, fault)
#define CUDA(call) cuda_ok(call, #call, fault)

static bool params_new(struct vendor *vendor, enum vendor_algorithm algorithm, struct fault *fault)
{
	cusolverAlgMode_t mode = algorithm == VENDOR_ALG_1 ? CUSOLVER_ALG_1 : CUSOLVER_ALG_0;
	cusolverDnParams_t *params = &vendor->params[algorithm];

	return SOLVER(cusolverDnCreateParams(params)) &&
	       SOLVER(cusolverDnSetAdvOptions(*params, CUSOLVERDN_GETRF, mode));
}

struct vendor *vendor_new(struct fault *fault)
{
	struct vendor *vendor = xcalloc(1, sizeof *vendor);

	if (SOLVER(cusolverDnCreate(&vendor->handle)) &&
	        CUDA(cudaStreamCreateWithFlags(&vendor->stream, cudaStreamNonBlocking)) &&
	        SOLVER(cusolverDnSetStream(vendor->handle, vendor->stream)) &&
	        BLAS(cublasCreate(&vendor->blas)) &&
	        BLAS(cublasSetStream(vendor->blas, vendor->stream)) &&
	        params_new(vendor, VENDOR_ALG_0, fault) && params_new(vendor, VENDOR_ALG_1, fault))
		return vendor;
	vendor_free(vendor);
	return NULL;
}

void vendor_free(struct vendor *vendor)
{
	if (!vendor)
		return;
	for (int a = 0; a < VENDOR_ALGORITHMS; a++)
		if (vendor->params[a])
			cusolverDnDestroyParams(vendor->params[a]);
	if (vendor->handle)
		cusolverDnDestroy(vendor->handle);
	if (vendor->blas)
		cublasDestroy(vendor->blas);
	if (vendor->stream)
		cudaStreamDestroy(vendor->stream);
	cudaFree(vendor->device.data);
	cudaFree(vendor->pivots.data);
	free(vendor->host.data);
	free(vendor);
}

static bool grow_device(struct work *work, size_t bytes, struct fault *fault)
{
	if (bytes <= work->bytes)
		return true;
	cudaFree(work->data);
	*work = (struct work){NULL, 0};
	if (!CUDA(cudaMalloc(&work->data, bytes)))
		return false;
	work->bytes = bytes;
	return true;
}

static void grow_host(struct work *work, size_t bytes)
{
	if (bytes > work->bytes)
		*work = (struct work){xrealloc(work->data, bytes), bytes};
}

/* ---- the calls by type ---- */

static cublasFillMode_t fill_of(const struct vendor_entry *entry)
{
	return entry->uplo == UPPER ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

/* A cuSOLVER or cuBLAS call by the letter of the precision of `a`. */
#define SOLVER_BY_TYPE(name, ...)                                                                  \
	(a.precision == SINGLE ? SOLVER(cusolverDnS##name(__VA_ARGS__))                            \
	                       : SOLVER(cusolverDnD##name(__VA_ARGS__)))

static bool plain_size(
        const struct vendor_entry *entry, struct matrix a, int *count, struct fault *fault)
{
	cusolverDnHandle_t h = entry->vendor->handle;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld;
	void *data = matrix_address(a);

	switch (entry->operation) {
	case GETRF:
		return SOLVER_BY_TYPE(getrf_bufferSize, h, m, n, data, ld, count);
	case GEQRF:
		return SOLVER_BY_TYPE(geqrf_bufferSize, h, m, n, data, ld, count);
	default:
		return SOLVER_BY_TYPE(potrf_bufferSize, h, fill_of(entry), n, data, ld, count);
	}
}

/* The size of the work space in elements, as far as an int holds it. */
static int words_of(const struct vendor *v, enum precision precision)
{
	const size_t count = v->device.bytes / (size_t)precision_bytes(precision);

	return (int)(count < INT_MAX ? count : INT_MAX);
}

static bool plain_run(const struct vendor_entry *entry, const struct timing_problem *p, int *info,
        struct fault *fault)
{
	struct vendor *v = entry->vendor;
	const struct matrix a = p->a;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, words = words_of(v, a.precision);
	void *data = matrix_address(a), *work = v->device.data;

	switch (entry->operation) {
	case GETRF:
		return SOLVER_BY_TYPE(getrf, v->handle, m, n, data, ld, work, p->pivots.data, info);
	case GEQRF:
		return SOLVER_BY_TYPE(geqrf, v->handle, m, n, data, ld, matrix_address(p->tau),
		        work, words, info);
	default:
		return SOLVER_BY_TYPE(
		        potrf, v->handle, fill_of(entry), n, data, ld, work, words, info);
	}
}

/* ---- the generic calls ---- */

static bool generic_size(const struct vendor_entry *entry, const struct timing_problem *p,
        size_t *device, size_t *host, struct fault *fault)
{
	struct vendor *v = entry->vendor;
	cusolverDnParams_t params = v->params[entry->algorithm];
	cudaDataType type = p->a.precision == SINGLE ? CUDA_R_32F : CUDA_R_64F;
	void *a = matrix_address(p->a);

	switch (entry->operation) {
	case GETRF:
		return SOLVER(cusolverDnXgetrf_bufferSize(
		        v->handle, params, p->a.m, p->a.n, type, a, p->a.ld, type, device, host));
	case GEQRF:
		return SOLVER(cusolverDnXgeqrf_bufferSize(v->handle, params, p->a.m, p->a.n, type,
		        a, p->a.ld, type, matrix_address(p->tau), type, device, host));
	default:
		return SOLVER(cusolverDnXpotrf_bufferSize(v->handle, params, fill_of(entry), p->a.n,
		        type, a, p->a.ld, type, device, host));
	}
}

static bool generic_run(const struct vendor_entry *entry, const struct timing_problem *p, int *info,
        struct fault *fault)
{
	struct vendor *v = entry->vendor;
	cusolverDnParams_t params = v->params[entry->algorithm];
	cudaDataType type = p->a.precision == SINGLE ? CUDA_R_32F : CUDA_R_64F;
	void *a = matrix_address(p->a), *work = v->device.data, *host = v->host.data;
	size_t bytes = v->device.bytes, host_bytes = v->host.bytes;

	switch (entry->operation) {
	case GETRF:
		return SOLVER(cusolverDnXgetrf(v->handle, params, p->a.m, p->a.n, type, a, p->a.ld,
		        v->pivots.data, type, work, bytes, host, host_bytes, info));
	case GEQRF:
		return SOLVER(cusolverDnXgeqrf(v->handle, params, p->a.m, p->a.n, type, a, p->a.ld,
		        type, matrix_address(p->tau), type, work, bytes, host, host_bytes, info));
	default:
		return SOLVER(cusolverDnXpotrf(v->handle, params, fill_of(entry), p->a.n, type, a,
		        p->a.ld, type, work, bytes, host, host_bytes, info));
	}
}

/* ---- the candidate ---- */

static bool prepare(struct candidate *candidate)
{
	struct fault *fault = &candidate->fault;
	const struct vendor_entry *entry = candidate->context;
	const struct timing_problem *problem = &candidate->fixture->problem;
	struct vendor *v = entry->vendor;
	const struct matrix a = problem->a;
	size_t bytes = 0, host = 0;
	int count = 0;

	if (entry->algorithm == VENDOR_PLAIN) {
		if (a.ld > INT_MAX || a.n > INT_MAX)
			return fault_refuse(
			        fault, "cuSOLVER's calls by type take 32-bit sizes only");
		if (!plain_size(entry, a, &count, fault))
			return false;
		bytes = (size_t)count * (size_t)precision_bytes(a.precision);
	} else if (!generic_size(entry, problem, &bytes, &host, fault)) {
		return false;
	}
	grow_host(&v->host, host);
	return grow_device(&v->device, bytes, fault) &&
	       grow_device(&v->pivots, (size_t)problem->pivots.n * sizeof(int64_t), fault);
}

bool vendor_emulates(struct vendor *vendor, enum precision precision, struct fault *fault)
{
	return vendor_emulation_differs(vendor->handle, vendor->stream, precision, fault);
}

static bool run(struct candidate *candidate)
{
	struct fault *fault = &candidate->fault;
	const struct vendor_entry *entry = candidate->context;
	const struct timing_problem *problem = &candidate->fixture->problem;
	int *info = problem->pivots.data + problem->pivots.n;

	const cusolverDnHandle_t handle = entry->vendor->handle;
	const enum precision precision = problem->a.precision;

	if (entry->emulated && !vendor_emulation_set(handle, precision, true))
		return fault_set(fault, "cuSOLVER of this toolkit has no emulated mode");
	bool ok = entry->algorithm == VENDOR_PLAIN ? plain_run(entry, problem, info, fault)
	                                           : generic_run(entry, problem, info, fault);

	ok = ok && CUDA(cudaStreamSynchronize(entry->vendor->stream));
	return (!entry->emulated || vendor_emulation_set(handle, precision, false)) && ok;
}

/* 64-bit pivots into LAPACK's. */
static bool after(struct candidate *candidate)
{
	struct fault *fault = &candidate->fault;
	const struct vendor_entry *entry = candidate->context;
	const struct pivots pivots = candidate->fixture->problem.pivots;
	size_t n = (size_t)pivots.n;

	if (entry->operation != GETRF || entry->algorithm == VENDOR_PLAIN)
		return true;
	int64_t *wide = xmalloc(n * sizeof *wide);
	int *narrow = xmalloc(n * sizeof *narrow);
	bool ok = CUDA(cudaMemcpy(
	        wide, entry->vendor->pivots.data, n * sizeof *wide, cudaMemcpyDeviceToHost));
	for (size_t i = 0; ok && i < n; i++)
		narrow[i] = (int)wide[i];
	ok = ok &&
	     CUDA(cudaMemcpy(pivots.data, narrow, n * sizeof *narrow, cudaMemcpyHostToDevice)) &&
	     CUDA(cudaDeviceSynchronize()); /* the copy returns once it is staged */
	free(wide);
	free(narrow);
	return ok;
}

struct candidate candidate_vendor(struct vendor_entry *entry)
{
	return (struct candidate){.variant = entry->emulated ? VENDOR_EMULATED : "cusolver",
	        .run = run,
	        .prepare = prepare,
	        .after = after,
	        .uplo = entry->uplo,
	        .context = entry};
}

/* ---- least squares ---- */

bool vendor_solve_prepare(
        struct vendor *vendor, struct matrix a, struct matrix b, struct fault *fault)
{
	cusolverDnHandle_t h = vendor->handle;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, nrhs = (int)b.n, ldb = (int)b.ld;
	void *data = matrix_address(a), *sides = matrix_address(b);
	int factor, apply;

	if (!SOLVER_BY_TYPE(geqrf_bufferSize, h, m, n, data, ld, &factor) ||
	        !SOLVER_BY_TYPE(ormqr_bufferSize, h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, nrhs, n,
	                data, ld, data, sides, ldb, &apply))
		return false;
	size_t count = (size_t)(factor > apply ? factor : apply);
	return grow_device(&vendor->device, count * (size_t)precision_bytes(a.precision), fault);
}

bool vendor_solve(struct vendor *vendor, struct matrix a, struct matrix tau, struct matrix b,
        int *info, struct fault *fault)
{
	cusolverDnHandle_t h = vendor->handle;
	const float one = 1;
	const double one_double = 1;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, nrhs = (int)b.n, ldb = (int)b.ld,
	    words = words_of(vendor, a.precision);
	void *data = matrix_address(a), *sides = matrix_address(b), *t = matrix_address(tau),
	     *work = vendor->device.data;

	return SOLVER_BY_TYPE(geqrf, h, m, n, data, ld, t, work, words, info) &&
	       SOLVER_BY_TYPE(ormqr, h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, nrhs, n, data, ld, t,
	               sides, ldb, work, words, info) &&
	       (a.precision == SINGLE
	                       ? BLAS(cublasStrsm(vendor->blas, CUBLAS_SIDE_LEFT,
	                                 CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
	                                 n, nrhs, &one, data, ld, sides, ldb))
	                       : BLAS(cublasDtrsm(vendor->blas, CUBLAS_SIDE_LEFT,
	                                 CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
	                                 n, nrhs, &one_double, data, ld, sides, ldb))) &&
	       CUDA(cudaStreamSynchronize(vendor->stream));
}

/* ---- the whole Q ---- */

bool vendor_whole_q_prepare(struct vendor *vendor, struct matrix a, struct matrix tau,
        struct matrix q, struct fault *fault)
{
	const int m = (int)a.m, n = (int)a.n;
	int factor, form;

	if (q.ld > INT_MAX || a.ld > INT_MAX)
		return fault_refuse(fault, "cuSOLVER's calls by type take 32-bit sizes only");
	if (!SOLVER_BY_TYPE(geqrf_bufferSize, vendor->handle, m, n, matrix_address(a), (int)a.ld,
	            &factor) ||
	        !SOLVER_BY_TYPE(orgqr_bufferSize, vendor->handle, m, m, n, matrix_address(q),
	                (int)q.ld, matrix_address(tau), &form))
		return false;
	const size_t words = (size_t)(factor > form ? factor : form) + 1; /* info behind them */
	return grow_device(&vendor->device, words * (size_t)precision_bytes(a.precision), fault);
}

bool vendor_whole_q(struct vendor *vendor, struct matrix a, struct matrix tau, struct matrix q,
        struct fault *fault)
{
	const int m = (int)a.m, n = (int)a.n, words = words_of(vendor, a.precision) - 1;
	const size_t word = (size_t)precision_bytes(a.precision);
	void *t = matrix_address(tau), *work = vendor->device.data;
	int *info = (void *)((char *)work + (size_t)words * word);

	return SOLVER_BY_TYPE(geqrf, vendor->handle, m, n, matrix_address(a), (int)a.ld, t, work,
	               words, info) &&
	       CUDA(cudaMemcpy2DAsync(matrix_address(q), (size_t)q.ld * word, matrix_address(a),
	               (size_t)a.ld * word, (size_t)m * word, (size_t)n, cudaMemcpyDeviceToDevice,
	               vendor->stream)) &&
	       SOLVER_BY_TYPE(orgqr, vendor->handle, m, m, n, matrix_address(q), (int)q.ld, t, work,
	               words, info) &&
	       CUDA(cudaStreamSynchronize(vendor->stream));
}
