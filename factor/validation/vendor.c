/* SPDX-License-Identifier: MIT */
#include "vendor.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <limits.h>
#include <stdlib.h>

/* Memory that grows to the largest size asked for. */
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
	return fault_set(fault, "cuSOLVER reference: %s: %s (%s)", call, cudaGetErrorString(error),
	        cudaGetErrorName(error));
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

static bool plain_size(
        const struct vendor_entry *entry, struct matrix a, int *count, struct fault *fault)
{
	cusolverDnHandle_t h = entry->vendor->handle;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld;
	bool single = a.precision == SINGLE;
	void *data = matrix_address(a);

	switch (entry->operation) {
	case GETRF:
		return single ? SOLVER(cusolverDnSgetrf_bufferSize(h, m, n, data, ld, count))
		              : SOLVER(cusolverDnDgetrf_bufferSize(h, m, n, data, ld, count));
	case GEQRF:
		return single ? SOLVER(cusolverDnSgeqrf_bufferSize(h, m, n, data, ld, count))
		              : SOLVER(cusolverDnDgeqrf_bufferSize(h, m, n, data, ld, count));
	default:
		return single ? SOLVER(cusolverDnSpotrf_bufferSize(
		                        h, fill_of(entry), n, data, ld, count))
		              : SOLVER(cusolverDnDpotrf_bufferSize(
		                        h, fill_of(entry), n, data, ld, count));
	}
}

static bool plain_single(const struct vendor_entry *entry, const struct timing_problem *p,
        int *info, struct fault *fault)
{
	struct vendor *v = entry->vendor;
	int m = (int)p->a.m, n = (int)p->a.n, ld = (int)p->a.ld;
	int words =
	        (int)(v->device.bytes / sizeof(float) < INT_MAX ? v->device.bytes / sizeof(float)
	                                                        : INT_MAX);
	void *a = matrix_address(p->a);

	switch (entry->operation) {
	case GETRF:
		return SOLVER(cusolverDnSgetrf(
		        v->handle, m, n, a, ld, v->device.data, p->pivots.data, info));
	case GEQRF:
		return SOLVER(cusolverDnSgeqrf(v->handle, m, n, a, ld, matrix_address(p->tau),
		        v->device.data, words, info));
	default:
		return SOLVER(cusolverDnSpotrf(
		        v->handle, fill_of(entry), n, a, ld, v->device.data, words, info));
	}
}

static bool plain_double(const struct vendor_entry *entry, const struct timing_problem *p,
        int *info, struct fault *fault)
{
	struct vendor *v = entry->vendor;
	int m = (int)p->a.m, n = (int)p->a.n, ld = (int)p->a.ld;
	int words =
	        (int)(v->device.bytes / sizeof(double) < INT_MAX ? v->device.bytes / sizeof(double)
	                                                         : INT_MAX);
	void *a = matrix_address(p->a);

	switch (entry->operation) {
	case GETRF:
		return SOLVER(cusolverDnDgetrf(
		        v->handle, m, n, a, ld, v->device.data, p->pivots.data, info));
	case GEQRF:
		return SOLVER(cusolverDnDgeqrf(v->handle, m, n, a, ld, matrix_address(p->tau),
		        v->device.data, words, info));
	default:
		return SOLVER(cusolverDnDpotrf(
		        v->handle, fill_of(entry), n, a, ld, v->device.data, words, info));
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

static bool prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct vendor_entry *entry = candidate->context;
	struct vendor *v = entry->vendor;
	struct matrix a = problem->a;
	size_t bytes = 0, host = 0;
	int count = 0;

	if (entry->algorithm == VENDOR_PLAIN) {
		if (a.ld > INT_MAX || a.n > INT_MAX)
			return fault_set(fault, "cuSOLVER's calls by type take 32-bit sizes only");
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

static bool run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct vendor_entry *entry = candidate->context;
	int *info = problem->pivots.data + problem->pivots.n;
	bool queued;

	if (entry->algorithm != VENDOR_PLAIN)
		queued = generic_run(entry, problem, info, fault);
	else if (problem->a.precision == SINGLE)
		queued = plain_single(entry, problem, info, fault);
	else
		queued = plain_double(entry, problem, info, fault);
	return queued && CUDA(cudaStreamSynchronize(entry->vendor->stream));
}

/* Pivots of 64 bits into LAPACK's. */
static bool after(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct vendor_entry *entry = candidate->context;
	size_t n = (size_t)problem->pivots.n;

	if (entry->operation != GETRF || entry->algorithm == VENDOR_PLAIN)
		return true;
	int64_t *wide = xmalloc(n * sizeof *wide);
	int *narrow = xmalloc(n * sizeof *narrow);
	bool ok = CUDA(cudaMemcpy(
	        wide, entry->vendor->pivots.data, n * sizeof *wide, cudaMemcpyDeviceToHost));
	for (size_t i = 0; ok && i < n; i++)
		narrow[i] = (int)wide[i];
	ok = ok && CUDA(cudaMemcpy(problem->pivots.data, narrow, n * sizeof *narrow,
	                   cudaMemcpyHostToDevice));
	free(wide);
	free(narrow);
	return ok;
}

struct candidate candidate_vendor(struct vendor_entry *entry)
{
	return (struct candidate){.variant = "cusolver",
	        .run = run,
	        .prepare = prepare,
	        .after = after,
	        .uplo = entry->uplo,
	        .context = entry};
}

/* ---- least squares ---- */

static bool solve_size(struct vendor *v, struct matrix a, struct matrix b, int *factor, int *apply,
        struct fault *fault)
{
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, nrhs = (int)b.n, ldb = (int)b.ld;
	void *data = matrix_address(a), *sides = matrix_address(b);

	if (a.precision == SINGLE)
		return SOLVER(cusolverDnSgeqrf_bufferSize(v->handle, m, n, data, ld, factor)) &&
		       SOLVER(cusolverDnSormqr_bufferSize(v->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T,
		               m, nrhs, n, data, ld, data, sides, ldb, apply));
	return SOLVER(cusolverDnDgeqrf_bufferSize(v->handle, m, n, data, ld, factor)) &&
	       SOLVER(cusolverDnDormqr_bufferSize(v->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, nrhs,
	               n, data, ld, data, sides, ldb, apply));
}

bool vendor_solve_prepare(
        struct vendor *vendor, struct matrix a, struct matrix b, struct fault *fault)
{
	int factor, apply;

	if (!solve_size(vendor, a, b, &factor, &apply, fault))
		return false;
	size_t count = (size_t)(factor > apply ? factor : apply);
	return grow_device(&vendor->device, count * (size_t)precision_bytes(a.precision), fault);
}

static bool solve_single(struct vendor *v, struct matrix a, void *tau, struct matrix b, int *info,
        int words, struct fault *fault)
{
	const float one = 1;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, nrhs = (int)b.n, ldb = (int)b.ld;
	float *data = matrix_address(a), *sides = matrix_address(b), *work = v->device.data;

	return SOLVER(cusolverDnSgeqrf(v->handle, m, n, data, ld, tau, work, words, info)) &&
	       SOLVER(cusolverDnSormqr(v->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, nrhs, n, data,
	               ld, tau, sides, ldb, work, words, info)) &&
	       BLAS(cublasStrsm(v->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
	               CUBLAS_DIAG_NON_UNIT, n, nrhs, &one, data, ld, sides, ldb));
}

static bool solve_double(struct vendor *v, struct matrix a, void *tau, struct matrix b, int *info,
        int words, struct fault *fault)
{
	const double one = 1;
	int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, nrhs = (int)b.n, ldb = (int)b.ld;
	double *data = matrix_address(a), *sides = matrix_address(b), *work = v->device.data;

	return SOLVER(cusolverDnDgeqrf(v->handle, m, n, data, ld, tau, work, words, info)) &&
	       SOLVER(cusolverDnDormqr(v->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, nrhs, n, data,
	               ld, tau, sides, ldb, work, words, info)) &&
	       BLAS(cublasDtrsm(v->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
	               CUBLAS_DIAG_NON_UNIT, n, nrhs, &one, data, ld, sides, ldb));
}

bool vendor_solve(struct vendor *vendor, struct matrix a, struct matrix tau, struct matrix b,
        int *info, struct fault *fault)
{
	size_t count = vendor->device.bytes / (size_t)precision_bytes(a.precision);
	int words = (int)(count < INT_MAX ? count : INT_MAX);
	bool single = a.precision == SINGLE;
	void *t = matrix_address(tau);

	return (single ? solve_single(vendor, a, t, b, info, words, fault)
	               : solve_double(vendor, a, t, b, info, words, fault)) &&
	       CUDA(cudaStreamSynchronize(vendor->stream));
}
