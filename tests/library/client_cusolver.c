/* SPDX-License-Identifier: MIT */
/* cuSOLVER for tests of the client library: its calls compute nothing and leave PASSED in devInfo.
 * Its workspaces have one element. Of the calls that libfathom does not answer it has a batched
 * one, and one whose arguments and result fill registers of all kinds and the stack. */
#include "client_standin.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <stdlib.h>

struct cusolverDnContext {
	cudaStream_t stream;
};

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
	*handle = calloc(1, sizeof **handle);
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
	free(handle);
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream)
{
	*stream = handle->stream;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
	handle->stream = stream;
	return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t passed(int *info)
{
	if (info)
		*info = PASSED;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
        float **a, int lda, int *info, int count)
{
	return passed(info);
}

double cusolverDnMixed(int a, double b, long c, float d, int e, double f, long g, double h, int i,
        double j, int k, double l, long m, double n, double o, double p, double q)
{
	return a + 2 * b + 3 * (double)c + 5 * (double)d + 7 * e + 11 * f + 13 * (double)g +
	       17 * h + 19 * i + 23 * j + 29 * k + 31 * l + 37 * (double)m + 41 * n + 43 * o +
	       47 * p + 53 * q;
}

/* ---- calls that libfathom answers ---- */

#define LEGACY(S, REAL)                                                                            \
	cusolverStatus_t cusolverDn##S##getrf_bufferSize(                                          \
	        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, int *lwork)             \
	{                                                                                          \
		*lwork = 1;                                                                        \
		return CUSOLVER_STATUS_SUCCESS;                                                    \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##getrf(cusolverDnHandle_t handle, int m, int n, REAL *a,    \
	        int lda, REAL *work, int *ipiv, int *info)                                         \
	{                                                                                          \
		return passed(info);                                                               \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##getrs(cusolverDnHandle_t handle, cublasOperation_t trans,  \
	        int n, int nrhs, const REAL *a, int lda, const int *ipiv, REAL *b, int ldb,        \
	        int *info)                                                                         \
	{                                                                                          \
		return passed(info);                                                               \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##geqrf_bufferSize(                                          \
	        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, int *lwork)             \
	{                                                                                          \
		*lwork = 1;                                                                        \
		return CUSOLVER_STATUS_SUCCESS;                                                    \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##geqrf(cusolverDnHandle_t handle, int m, int n, REAL *a,    \
	        int lda, REAL *tau, REAL *work, int lwork, int *info)                              \
	{                                                                                          \
		return passed(info);                                                               \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##orgqr_bufferSize(cusolverDnHandle_t handle, int m, int n,  \
	        int k, const REAL *a, int lda, const REAL *tau, int *lwork)                        \
	{                                                                                          \
		*lwork = 1;                                                                        \
		return CUSOLVER_STATUS_SUCCESS;                                                    \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##orgqr(cusolverDnHandle_t handle, int m, int n, int k,      \
	        REAL *a, int lda, const REAL *tau, REAL *work, int lwork, int *info)               \
	{                                                                                          \
		return passed(info);                                                               \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##ormqr_bufferSize(cusolverDnHandle_t handle,                \
	        cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k,               \
	        const REAL *a, int lda, const REAL *tau, const REAL *c, int ldc, int *lwork)       \
	{                                                                                          \
		*lwork = 1;                                                                        \
		return CUSOLVER_STATUS_SUCCESS;                                                    \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##ormqr(cusolverDnHandle_t handle, cublasSideMode_t side,    \
	        cublasOperation_t trans, int m, int n, int k, const REAL *a, int lda,              \
	        const REAL *tau, REAL *c, int ldc, REAL *work, int lwork, int *info)               \
	{                                                                                          \
		return passed(info);                                                               \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##potrf_bufferSize(cusolverDnHandle_t handle,                \
	        cublasFillMode_t uplo, int n, REAL *a, int lda, int *lwork)                        \
	{                                                                                          \
		*lwork = 1;                                                                        \
		return CUSOLVER_STATUS_SUCCESS;                                                    \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo,    \
	        int n, REAL *a, int lda, REAL *work, int lwork, int *info)                         \
	{                                                                                          \
		return passed(info);                                                               \
	}                                                                                          \
	cusolverStatus_t cusolverDn##S##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo,    \
	        int n, int nrhs, const REAL *a, int lda, REAL *b, int ldb, int *info)              \
	{                                                                                          \
		return passed(info);                                                               \
	}

LEGACY(S, float)
LEGACY(D, double)

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes, size_t *host_bytes)
{
	*bytes = 8;
	*host_bytes = 16;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, int64_t *ipiv,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_tau, const void *tau, cudaDataType type_compute, size_t *bytes,
        size_t *host_bytes)
{
	*bytes = 8;
	*host_bytes = 16;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, cudaDataType type_tau, void *tau,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes, size_t *host_bytes)
{
	*bytes = 8;
	*host_bytes = 16;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, void *a, int64_t lda,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnGetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes)
{
	*bytes = 8;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, int64_t *ipiv,
        cudaDataType type_compute, void *work, size_t bytes, int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnGetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnGeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_tau, const void *tau, cudaDataType type_compute, size_t *bytes)
{
	*bytes = 8;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnGeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, cudaDataType type_tau, void *tau,
        cudaDataType type_compute, void *work, size_t bytes, int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnPotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes)
{
	*bytes = 8;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnPotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, void *a, int64_t lda,
        cudaDataType type_compute, void *work, size_t bytes, int *info)
{
	return passed(info);
}

cusolverStatus_t cusolverDnPotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
	return passed(info);
}
