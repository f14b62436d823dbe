/* SPDX-License-Identifier: MIT */
/* cuSOLVER's 64-bit calls: with X in their name, and those of toolkits before 13, which have one
 * workspace. */
#include "real.h"
#include "request.h"

/* The types of all operands, and of the computation, have to agree. */
static enum precision precision_of(cudaDataType a, cudaDataType b, cudaDataType compute)
{
	if (a == b && b == compute && a == CUDA_R_32F)
		return SINGLE;
	if (a == b && b == compute && a == CUDA_R_64F)
		return DOUBLE;
	return (enum precision)0;
}

static cusolverStatus_t widen(cusolverStatus_t status, const struct request *r, size_t *bytes)
{
	if (status == CUSOLVER_STATUS_SUCCESS)
		*bytes = (size_t)request_bytes(r, (int64_t)*bytes);
	return status;
}

/* The bytes of a workspace that a caller gives; more than any memory has are as good as the most.
 */
static int64_t given(size_t bytes)
{
	return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

/* ---- what the calls ask, in libfathom's terms ---- */

static struct request lu(enum client_call call, cusolverDnHandle_t handle, int64_t m, int64_t n,
        cudaDataType type_a, int64_t lda, cudaDataType type_compute)
{
	return (struct request){.call = call,
	        .operation = GETRF,
	        .precision = precision_of(type_a, type_a, type_compute),
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .lda = lda,
	        .wide = true};
}

static struct request qr(enum client_call call, cusolverDnHandle_t handle, int64_t m, int64_t n,
        cudaDataType type_a, int64_t lda, cudaDataType type_tau, cudaDataType type_compute)
{
	return (struct request){.call = call,
	        .operation = GEQRF,
	        .precision = precision_of(type_a, type_tau, type_compute),
	        .handle = handle,
	        .m = m,
	        .n = n,
	        .lda = lda};
}

static struct request cholesky(enum client_call call, cusolverDnHandle_t handle,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, int64_t lda,
        cudaDataType type_compute)
{
	return (struct request){.call = call,
	        .operation = POTRF,
	        .precision = precision_of(type_a, type_a, type_compute),
	        .handle = handle,
	        .uplo = letter_of_uplo(uplo),
	        .m = n,
	        .n = n,
	        .lda = lda};
}

static void give(struct request *r, void *a, void *work, size_t bytes, int *info)
{
	r->a = a;
	r->work = work;
	r->work_bytes = given(bytes);
	r->info = info;
}

static struct request lu_solve(enum client_call call, cusolverDnHandle_t handle,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	return (struct request){.call = call,
	        .operation = GETRS,
	        .precision = precision_of(type_a, type_b, type_b),
	        .handle = handle,
	        .trans = letter_of_trans(trans),
	        .m = n,
	        .n = nrhs,
	        .factors = a,
	        .ldf = lda,
	        .pivots = ipiv,
	        .wide = true,
	        .a = b,
	        .lda = ldb,
	        .info = info};
}

static struct request cholesky_solve(enum client_call call, cusolverDnHandle_t handle,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	return (struct request){.call = call,
	        .operation = POTRS,
	        .precision = precision_of(type_a, type_b, type_b),
	        .handle = handle,
	        .uplo = letter_of_uplo(uplo),
	        .m = n,
	        .n = nrhs,
	        .factors = a,
	        .ldf = lda,
	        .a = b,
	        .lda = ldb,
	        .info = info};
}

/* ---- X ---- */

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes, size_t *host_bytes)
{
	const struct request r = lu(CALL_Xgetrf, handle, m, n, type_a, lda, type_compute);

	return widen(REAL_CALL(cusolverDnXgetrf_bufferSize, handle, params, m, n, type_a, a, lda,
	                     type_compute, bytes, host_bytes),
	        &r, bytes);
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, int64_t *ipiv,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info)
{
	struct request r = lu(CALL_Xgetrf, handle, m, n, type_a, lda, type_compute);

	give(&r, a, work, bytes, info);
	r.pivots_out = ipiv;
	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(cusolverDnXgetrf, handle, params, m, n, type_a, a, lda, ipiv,
	                         type_compute, work, bytes, host_work, host_bytes, info);
}

cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	struct request r = lu_solve(
	        CALL_Xgetrs, handle, trans, n, nrhs, type_a, a, lda, ipiv, type_b, b, ldb, info);

	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnXgetrs, handle, params, trans, n, nrhs,
	                                    type_a, a, lda, ipiv, type_b, b, ldb, info);
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_tau, const void *tau, cudaDataType type_compute, size_t *bytes,
        size_t *host_bytes)
{
	const struct request r = qr(CALL_Xgeqrf, handle, m, n, type_a, lda, type_tau, type_compute);

	return widen(REAL_CALL(cusolverDnXgeqrf_bufferSize, handle, params, m, n, type_a, a, lda,
	                     type_tau, tau, type_compute, bytes, host_bytes),
	        &r, bytes);
}

cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, cudaDataType type_tau, void *tau,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info)
{
	struct request r = qr(CALL_Xgeqrf, handle, m, n, type_a, lda, type_tau, type_compute);

	give(&r, a, work, bytes, info);
	r.tau_out = tau;
	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(cusolverDnXgeqrf, handle, params, m, n, type_a, a, lda, type_tau,
	                         tau, type_compute, work, bytes, host_work, host_bytes, info);
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes, size_t *host_bytes)
{
	const struct request r = cholesky(CALL_Xpotrf, handle, uplo, n, type_a, lda, type_compute);

	return widen(REAL_CALL(cusolverDnXpotrf_bufferSize, handle, params, uplo, n, type_a, a, lda,
	                     type_compute, bytes, host_bytes),
	        &r, bytes);
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, void *a, int64_t lda,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info)
{
	struct request r = cholesky(CALL_Xpotrf, handle, uplo, n, type_a, lda, type_compute);

	give(&r, a, work, bytes, info);
	return request_answer(&r)
	               ? r.status
	               : REAL_CALL(cusolverDnXpotrf, handle, params, uplo, n, type_a, a, lda,
	                         type_compute, work, bytes, host_work, host_bytes, info);
}

cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	struct request r = cholesky_solve(
	        CALL_Xpotrs, handle, uplo, n, nrhs, type_a, a, lda, type_b, b, ldb, info);

	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnXpotrs, handle, params, uplo, n, nrhs,
	                                    type_a, a, lda, type_b, b, ldb, info);
}

/* ---- without X ---- */

cusolverStatus_t cusolverDnGetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes)
{
	const struct request r = lu(CALL_Getrf, handle, m, n, type_a, lda, type_compute);

	return widen(REAL_CALL(cusolverDnGetrf_bufferSize, handle, params, m, n, type_a, a, lda,
	                     type_compute, bytes),
	        &r, bytes);
}

cusolverStatus_t cusolverDnGetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, int64_t *ipiv,
        cudaDataType type_compute, void *work, size_t bytes, int *info)
{
	struct request r = lu(CALL_Getrf, handle, m, n, type_a, lda, type_compute);

	give(&r, a, work, bytes, info);
	r.pivots_out = ipiv;
	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnGetrf, handle, params, m, n, type_a, a, lda,
	                                    ipiv, type_compute, work, bytes, info);
}

cusolverStatus_t cusolverDnGetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	struct request r = lu_solve(
	        CALL_Getrs, handle, trans, n, nrhs, type_a, a, lda, ipiv, type_b, b, ldb, info);

	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnGetrs, handle, params, trans, n, nrhs,
	                                    type_a, a, lda, ipiv, type_b, b, ldb, info);
}

cusolverStatus_t cusolverDnGeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_tau, const void *tau, cudaDataType type_compute, size_t *bytes)
{
	const struct request r = qr(CALL_Geqrf, handle, m, n, type_a, lda, type_tau, type_compute);

	return widen(REAL_CALL(cusolverDnGeqrf_bufferSize, handle, params, m, n, type_a, a, lda,
	                     type_tau, tau, type_compute, bytes),
	        &r, bytes);
}

cusolverStatus_t cusolverDnGeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, cudaDataType type_tau, void *tau,
        cudaDataType type_compute, void *work, size_t bytes, int *info)
{
	struct request r = qr(CALL_Geqrf, handle, m, n, type_a, lda, type_tau, type_compute);

	give(&r, a, work, bytes, info);
	r.tau_out = tau;
	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnGeqrf, handle, params, m, n, type_a, a, lda,
	                                    type_tau, tau, type_compute, work, bytes, info);
}

cusolverStatus_t cusolverDnPotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes)
{
	const struct request r = cholesky(CALL_Potrf, handle, uplo, n, type_a, lda, type_compute);

	return widen(REAL_CALL(cusolverDnPotrf_bufferSize, handle, params, uplo, n, type_a, a, lda,
	                     type_compute, bytes),
	        &r, bytes);
}

cusolverStatus_t cusolverDnPotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, void *a, int64_t lda,
        cudaDataType type_compute, void *work, size_t bytes, int *info)
{
	struct request r = cholesky(CALL_Potrf, handle, uplo, n, type_a, lda, type_compute);

	give(&r, a, work, bytes, info);
	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnPotrf, handle, params, uplo, n, type_a, a,
	                                    lda, type_compute, work, bytes, info);
}

cusolverStatus_t cusolverDnPotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	struct request r = cholesky_solve(
	        CALL_Potrs, handle, uplo, n, nrhs, type_a, a, lda, type_b, b, ldb, info);

	return request_answer(&r) ? r.status
	                          : REAL_CALL(cusolverDnPotrs, handle, params, uplo, n, nrhs,
	                                    type_a, a, lda, type_b, b, ldb, info);
}
