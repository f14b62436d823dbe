/* SPDX-License-Identifier: MIT */
/* cuSOLVER's calls that libfathom answers, and the few others that the client library itself uses.
 * A build with the CUDA Toolkit takes the types from cuSOLVER's header, and the compiler compares
 * the prototypes. A build without it has types of its own, with the same binary interface. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

#ifdef FATHOM_CUDA
#define DISABLE_CUSOLVER_DEPRECATED /* calls of earlier toolkits are answered, too */
#include <cusolverDn.h>
#else
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef struct CUstream_st *cudaStream_t;
typedef enum {
	CUSOLVER_STATUS_SUCCESS = 0,
	CUSOLVER_STATUS_EXECUTION_FAILED = 6,
	CUSOLVER_STATUS_INTERNAL_ERROR = 7
} cusolverStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4 } cudaDataType;
#endif

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

/* ---- the legacy calls, S and D ---- */

#define LEGACY_CALLS(S, REAL)                                                                      \
	cusolverStatus_t cusolverDn##S##getrf_bufferSize(                                          \
	        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, int *lwork);            \
	cusolverStatus_t cusolverDn##S##getrf(cusolverDnHandle_t handle, int m, int n, REAL *a,    \
	        int lda, REAL *work, int *ipiv, int *info);                                        \
	cusolverStatus_t cusolverDn##S##getrs(cusolverDnHandle_t handle, cublasOperation_t trans,  \
	        int n, int nrhs, const REAL *a, int lda, const int *ipiv, REAL *b, int ldb,        \
	        int *info);                                                                        \
	cusolverStatus_t cusolverDn##S##geqrf_bufferSize(                                          \
	        cusolverDnHandle_t handle, int m, int n, REAL *a, int lda, int *lwork);            \
	cusolverStatus_t cusolverDn##S##geqrf(cusolverDnHandle_t handle, int m, int n, REAL *a,    \
	        int lda, REAL *tau, REAL *work, int lwork, int *info);                             \
	cusolverStatus_t cusolverDn##S##orgqr_bufferSize(cusolverDnHandle_t handle, int m, int n,  \
	        int k, const REAL *a, int lda, const REAL *tau, int *lwork);                       \
	cusolverStatus_t cusolverDn##S##orgqr(cusolverDnHandle_t handle, int m, int n, int k,      \
	        REAL *a, int lda, const REAL *tau, REAL *work, int lwork, int *info);              \
	cusolverStatus_t cusolverDn##S##ormqr_bufferSize(cusolverDnHandle_t handle,                \
	        cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k,               \
	        const REAL *a, int lda, const REAL *tau, const REAL *c, int ldc, int *lwork);      \
	cusolverStatus_t cusolverDn##S##ormqr(cusolverDnHandle_t handle, cublasSideMode_t side,    \
	        cublasOperation_t trans, int m, int n, int k, const REAL *a, int lda,              \
	        const REAL *tau, REAL *c, int ldc, REAL *work, int lwork, int *info);              \
	cusolverStatus_t cusolverDn##S##potrf_bufferSize(cusolverDnHandle_t handle,                \
	        cublasFillMode_t uplo, int n, REAL *a, int lda, int *lwork);                       \
	cusolverStatus_t cusolverDn##S##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo,    \
	        int n, REAL *a, int lda, REAL *work, int lwork, int *info);                        \
	cusolverStatus_t cusolverDn##S##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo,    \
	        int n, int nrhs, const REAL *a, int lda, REAL *b, int ldb, int *info)

LEGACY_CALLS(S, float);
LEGACY_CALLS(D, double);

/* ---- the 64-bit calls ----
 *
 * X: with workspaces on device and host. Without X: those of toolkits before 13, with one
 * workspace.
 */

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes, size_t *host_bytes);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, int64_t *ipiv,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_tau, const void *tau, cudaDataType type_compute, size_t *bytes,
        size_t *host_bytes);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, cudaDataType type_tau, void *tau,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes, size_t *host_bytes);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, void *a, int64_t lda,
        cudaDataType type_compute, void *work, size_t bytes, void *host_work, size_t host_bytes,
        int *info);
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info);

cusolverStatus_t cusolverDnGetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes);
cusolverStatus_t cusolverDnGetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, int64_t *ipiv,
        cudaDataType type_compute, void *work, size_t bytes, int *info);
cusolverStatus_t cusolverDnGetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info);
cusolverStatus_t cusolverDnGeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_tau, const void *tau, cudaDataType type_compute, size_t *bytes);
cusolverStatus_t cusolverDnGeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
        int64_t n, cudaDataType type_a, void *a, int64_t lda, cudaDataType type_tau, void *tau,
        cudaDataType type_compute, void *work, size_t bytes, int *info);
cusolverStatus_t cusolverDnPotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, const void *a, int64_t lda,
        cudaDataType type_compute, size_t *bytes);
cusolverStatus_t cusolverDnPotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, cudaDataType type_a, void *a, int64_t lda,
        cudaDataType type_compute, void *work, size_t bytes, int *info);
cusolverStatus_t cusolverDnPotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
        cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType type_a, const void *a,
        int64_t lda, cudaDataType type_b, void *b, int64_t ldb, int *info);

/* ---- what the client library adds ---- */

/* Calls of that name ("cusolverDnSgetrf"; NULL: all names) since the program began: answered by
 * libfathom, or passed on to cuSOLVER. Queries of workspaces are not counted. -1: no such name. */
long long fathom_cusolver_answered(const char *name);
long long fathom_cusolver_passed(const char *name);

#pragma GCC visibility pop
